import { describe, expect, it } from "vitest";
import { parseKey } from "../../src/tenancy/keys";
import { failed, SERVER } from "./recorded-account";
import { Interruption, type InterruptionPoint, GOAL, PROVIDER_KEY, World } from "./recorded-world";

/** Checks the state after a first deployment. It is the same with and without interruptions. */
function expectComplete(world: World): void {
  const { account, saved, storedKeys } = world;
  expect([...account.databases.keys()]).toEqual(["massgen-edge-db"]);
  expect([...account.buckets]).toEqual(["massgen-edge-bucket"]);
  expect(account.worker).toEqual({ database: "massgen-edge-db", bucket: "massgen-edge-bucket" });
  expect(account.isMigrated).toBe(true);
  expect(account.puts).toEqual([
    { name: "MASTER_KEY", value: saved.MASTER_KEY },
    { name: "SEALING_KEYS", value: saved.SEALING_KEYS },
    { name: "OPENAI_API_KEY", value: PROVIDER_KEY },
  ]);
  expect(saved.FIRST_KEY).toBeUndefined();
  expect(account.keyRows.size).toBe(1);
  expect([...storedKeys.keys()]).toEqual([SERVER]);
  expect(world.isKeyKnown(storedKeys.get(SERVER) ?? "")).toBe(true);
}

/** Every point at which a run can be interrupted: before and after each call of a port. */
async function interruptionPoints(): Promise<InterruptionPoint[]> {
  const completeWorld = new World();
  await completeWorld.run();
  return Array.from({ length: completeWorld.portCalls }, (_, call) => call).flatMap((call) => [
    { call, phase: "before" as const },
    { call, phase: "after" as const },
  ]);
}

describe("a first deployment", () => {
  it("creates everything in an empty account and returns the address", async () => {
    const world = new World();
    expect(await world.run()).toEqual({
      server: SERVER,
      secrets: ["MASTER_KEY", "SEALING_KEYS", "OPENAI_API_KEY"],
      isLoggedIn: true,
    });
    expectComplete(world);
    expect(world.printed).toEqual([
      "1/9 create the D1 database massgen-edge-db",
      "2/9 create the R2 bucket massgen-edge-bucket",
      "3/9 upload the Worker massgen-edge",
      "4/9 bring the database up to date",
      "5/9 generate and set the secret MASTER_KEY",
      "6/9 generate and set the secret SEALING_KEYS",
      "7/9 set the secret OPENAI_API_KEY from .dev.vars",
      "8/9 create the first key of the service, an admin key for the tenant main",
      "9/9 log the command line in",
      `    waiting for ${SERVER}: a new address can take some minutes`,
      "    the service accepts the key",
    ]);
  });

  it("never passes a secret as an argument, and never prints a secret", async () => {
    const world = new World();
    await world.run();
    const visible = JSON.stringify([world.account.calls, world.printed]);
    const key = world.storedKeys.get(SERVER) ?? "";
    const secrets = [...world.account.puts.map(({ value }) => value), key, parseKey(key)?.secret];
    expect(secrets).toHaveLength(5);
    for (const secret of secrets) expect(visible).not.toContain(secret ?? expect.fail("no secret"));
  });

  it("is completed by a second run after an interruption at any point", async () => {
    const points = await interruptionPoints();
    expect(points.length).toBeGreaterThan(40);
    for (const point of points) {
      const world = new World();
      await expect(world.run(GOAL, point)).rejects.toThrow(Interruption);
      await world.run();
      expectComplete(world);
    }
  });

  it("is completed by a third run after interruptions at any two points", async () => {
    const points = await interruptionPoints();
    for (const first of points) {
      for (const second of points) {
        const world = new World();
        await expect(world.run(GOAL, first)).rejects.toThrow(Interruption);
        await world.run(GOAL, second).catch((error: unknown) => {
          if (!(error instanceof Interruption)) throw error;
        });
        await world.run();
        expectComplete(world);
      }
    }
  });

  it("creates and replaces nothing if it is run again after it was completed", async () => {
    const world = new World();
    await world.run();
    world.account.calls.length = 0;
    await world.run();
    expectComplete(world);
    expect(world.account.calls.map(([first, second]) => `${first} ${second}`)).toEqual([
      "d1 list",
      "r2 bucket",
      "secret list",
      "deploy --config",
      "d1 migrations",
      "d1 execute",
    ]);
  });

  it("keeps a MASTER_KEY that was set by hand", async () => {
    const world = new World();
    world.account.worker = { database: "massgen-edge-db", bucket: "massgen-edge-bucket" };
    world.account.databases.set("massgen-edge-db", "an-id");
    world.account.run(["secret", "put", "MASTER_KEY"], "set by hand");
    await world.run();
    expect(world.account.puts.filter(({ name }) => name === "MASTER_KEY")).toEqual([
      { name: "MASTER_KEY", value: "set by hand" },
    ]);
    expect(world.saved.MASTER_KEY).toBeUndefined();
  });

  it("creates no database for a Worker that is bound to a database with another name", async () => {
    const world = new World();
    world.account.worker = { database: "chosen-by-hand", bucket: "chosen-by-hand" };
    world.account.databases.set("chosen-by-hand", "an-id");
    world.account.buckets.add("chosen-by-hand");
    await world.run();
    expect([...world.account.databases.keys()]).toEqual(["chosen-by-hand"]);
    expect([...world.account.buckets]).toEqual(["chosen-by-hand"]);
  });

  it("creates no key if the service has keys, and does not log in without a stored key", async () => {
    const world = new World();
    await world.run();
    world.storedKeys.clear();
    expect(await world.run()).toMatchObject({ isLoggedIn: false });
    expect(world.account.keyRows.size).toBe(1);
  });
});

describe("a first deployment that fails", () => {
  it.each([
    {
      name: "without a login",
      at: "d1 list",
      message:
        "In a non-interactive environment, it's necessary to set a CLOUDFLARE_API_TOKEN environment variable for wrangler to work.",
      remedy: "Run: npx wrangler login",
    },
    {
      name: "with several accounts",
      at: "d1 list",
      message: `More than one account available but unable to select one in non-interactive mode.
Please set the appropriate \`account_id\` in your wrangler.toml file or assign it to the \`CLOUDFLARE_ACCOUNT_ID\` environment variable.
Available accounts are (\`<name>\`: \`<account_id>\`):
  \`Acme\`: \`${"a".repeat(32)}\`
  \`Beta\`: \`${"b".repeat(32)}\``,
      remedy: `CLOUDFLARE_ACCOUNT_ID=${"b".repeat(32)} npm run deploy -- --first`,
    },
    {
      name: "without R2",
      at: "r2 bucket list",
      message:
        "A request to the Cloudflare API (/accounts/a/r2/buckets) failed.\n\n  Please enable R2 through the Cloudflare Dashboard. [code: 10042]",
      remedy:
        "R2 is not enabled on this Cloudflare account. Enable it: https://dash.cloudflare.com",
    },
    {
      name: "on the Free plan",
      at: "deploy",
      message: "CPU limits are not supported for the Free plan. [code: 100328]",
      remedy: "Change the plan: https://dash.cloudflare.com",
    },
    {
      name: "with a token that lacks permissions",
      at: "secret put",
      message: "A request to the Cloudflare API failed.\n\n  Authentication error [code: 10000]",
      remedy: "needs the permissions to edit Workers Scripts, D1 and R2",
    },
    {
      name: "for a Worker without its database",
      at: "deploy",
      message: "A database with that name already exists",
      remedy: "Add database_name and bucket_name to wrangler.toml",
    },
    {
      name: "for an unknown reason",
      at: "d1 migrations apply",
      message: 'near "CREAT": syntax error',
      remedy: 'near "CREAT": syntax error',
    },
  ])("$name reports the command, the remedy and the next command", async (row) => {
    const world = new World();
    world.replacedReplies.set(row.at, failed(row.message));
    const problem = await world.problem();
    expect(problem).toContain(`\`npx wrangler ${row.at}`);
    expect(problem).toContain(row.remedy);
    expect(problem).toContain("npm run deploy -- --first");
    world.replacedReplies.clear();
    await world.run();
    expectComplete(world);
  });

  it("without a workers.dev subdomain links the page for it, and completes after the registration", async () => {
    const world = new World();
    world.account.hasSubdomain = false;
    expect(await world.problem()).toMatch(
      /no workers\.dev subdomain\. Register one: https:\/\/dash\.cloudflare\.com\/a+\/workers\/onboarding\n/,
    );
    world.account.hasSubdomain = true;
    await world.run();
    expectComplete(world);
  });

  it("while it stores a key prints no SQL", async () => {
    const world = new World();
    world.replacedReplies.set(
      "d1 execute",
      failed("no such table: api_keys: SQLITE_ERROR [code: 7500]"),
    );
    expect(await world.problem()).not.toMatch(/INSERT|SELECT/);
  });
});
