import { describe, expect, it } from "vitest";
import { CHECK_EVERY_MS, type KeyCheck, keyCheckOf, MAX_CHECKS, MAX_REFUSALS } from "./key-check";
import { SERVER } from "./recorded-account";
import { World } from "./recorded-world";

const ACCEPTED: KeyCheck = { type: "accepted" };
const REFUSED: KeyCheck = { type: "refused" };
const UNREACHABLE: KeyCheck = { type: "unreachable" };
const NOT_SET_UP: KeyCheck = { type: "not_set_up", message: "Its secret MASTER_KEY is missing." };
const times = (count: number, check: KeyCheck): KeyCheck[] => Array<KeyCheck>(count).fill(check);
/**
 * The responses to the checks of a run, and the expected result: the number of waits, the printed
 * lines, and a part of the problem's message; "" if the run succeeds.
 */
type CheckRow = {
  name: string;
  checks: KeyCheck[];
  waits: number;
  printed: string[];
  problem: string;
};

async function expectChecks(
  world: World,
  { checks, waits, printed, problem }: CheckRow,
): Promise<void> {
  world.checks = [...checks];
  const message = await world.problem();
  if (problem === "") expect(message).toBe("");
  else expect(message).toContain(problem);
  expect(world.waits).toEqual(Array(waits).fill(CHECK_EVERY_MS));
  const firstLine = world.printed.findIndex((line) => line.includes("waiting for"));
  expect(world.printed.slice(firstLine + 1)).toEqual(
    printed.map((line) => `    the service ${line}`),
  );
}

describe("the key that a first deployment created", () => {
  it.each<CheckRow>([
    {
      name: "is accepted at once",
      checks: [ACCEPTED],
      waits: 0,
      printed: ["accepts the key"],
      problem: "",
    },
    {
      name: "is accepted once the address is reachable",
      checks: [...times(MAX_CHECKS - 1, UNREACHABLE), ACCEPTED],
      waits: MAX_CHECKS - 1,
      printed: ["does not respond yet", "accepts the key"],
      problem: "",
    },
    {
      name: "is accepted after some refusals",
      checks: [UNREACHABLE, ...times(MAX_REFUSALS - 1, REFUSED), ACCEPTED],
      waits: MAX_REFUSALS,
      printed: ["does not respond yet", "does not accept the new key yet", "accepts the key"],
      problem: "",
    },
    {
      name: "is accepted once the secrets have arrived",
      checks: [...times(MAX_REFUSALS - 1, NOT_SET_UP), ACCEPTED],
      waits: MAX_REFUSALS - 1,
      printed: ["does not have its secrets and settings yet", "accepts the key"],
      problem: "",
    },
    {
      name: "ends the run with a problem after too many refusals",
      checks: times(MAX_REFUSALS, REFUSED),
      waits: MAX_REFUSALS - 1,
      printed: ["does not accept the new key yet"],
      problem:
        "refuses the key that this run created. Wait a minute, then: npm run deploy -- --first",
    },
    {
      name: "ends the run with a problem if the secrets do not arrive",
      checks: times(MAX_REFUSALS, NOT_SET_UP),
      waits: MAX_REFUSALS - 1,
      printed: ["does not have its secrets and settings yet"],
      problem: "Its secret MASTER_KEY is missing.",
    },
    {
      name: "ends the run with a problem if the address remains unreachable",
      checks: times(MAX_CHECKS, UNREACHABLE),
      waits: MAX_CHECKS - 1,
      printed: ["does not respond yet"],
      problem: "Check: npm run ask -- doctor",
    },
  ])("$name", async (row) => {
    const world = new World();
    await expectChecks(world, row);
    await world.run();
    expect(world.account.keyRows.size).toBe(1);
    expect(world.saved.FIRST_KEY).toBeUndefined();
  });
});

describe("the key that an earlier run stored", () => {
  it.each<CheckRow>([
    {
      name: "is accepted once the address is reachable",
      checks: [UNREACHABLE, UNREACHABLE, ACCEPTED],
      waits: 2,
      printed: ["does not respond yet", "accepts the key"],
      problem: "",
    },
    {
      name: "is not checked again after a refusal",
      checks: [REFUSED],
      waits: 0,
      printed: ["refuses the stored key"],
      problem: `Create one: npm run keys -- create --tenant main --scopes admin --name first --remote
Store it: npm run ask -- login --server ${SERVER}`,
    },
    {
      name: "is not checked again after a refusal of a service that was unreachable",
      checks: [UNREACHABLE, REFUSED],
      waits: 1,
      printed: ["does not respond yet", "refuses the stored key"],
      problem: "it was revoked, has expired, or belongs to another deployment",
    },
    {
      name: "is accepted once the service is set up",
      checks: [NOT_SET_UP, ACCEPTED],
      waits: 1,
      printed: ["does not have its secrets and settings yet", "accepts the key"],
      problem: "",
    },
  ])("$name", async (row) => {
    const world = new World();
    await world.run();
    world.printed.length = 0;
    await expectChecks(world, row);
    expect(world.account.keyRows.size).toBe(1);
  });

  it("is replaced if it was revoked and the service has no other valid key", async () => {
    const world = new World();
    await world.run();
    const first = world.storedKeys.get(SERVER);
    world.revokeStoredKey();
    expect(await world.run()).toMatchObject({ isLoggedIn: true });
    expect(world.storedKeys.get(SERVER)).not.toBe(first);
    expect(world.account.keyRows.size).toBe(2);
    expect(world.isKeyKnown(world.storedKeys.get(SERVER) ?? "")).toBe(true);
    expect(world.saved.FIRST_KEY).toBeUndefined();
  });

  it("is not replaced if it was revoked and the service has another valid key", async () => {
    const world = new World();
    await world.run();
    world.revokeStoredKey();
    world.account.keyRows.set("another", "hash");
    expect(await world.problem()).toContain("The service has other valid keys");
    expect(world.account.keyRows.size).toBe(2);
    expect(world.waits).toEqual([]);
  });
});

it("the suggested command that creates another key contains the wrangler environment", async () => {
  const world = new World();
  world.options = ["--config", "wrangler.toml", "--env", "test"];
  await world.run();
  world.checks = [REFUSED];
  expect(await world.problem()).toContain(": CLOUDFLARE_ENV=test npm run keys -- create --tenant");
});

describe("the service's response to a check of the key", () => {
  const refusal = (code: string | null) => ({ kind: "refused", code, message: "why" }) as const;

  it.each([
    { access: { kind: "good" }, check: ACCEPTED },
    { access: { kind: "open" }, check: ACCEPTED },
    { access: { kind: "limited" }, check: ACCEPTED },
    { access: refusal("unauthorized"), check: REFUSED },
    { access: refusal("access_closed"), check: { type: "not_set_up", message: "why" } },
    { access: refusal(null), check: UNREACHABLE },
  ] as const)("$access means $check", ({ access, check }) => {
    expect(keyCheckOf(access)).toEqual(check);
  });
});
