import { afterEach, describe, expect, it } from "vitest";
import { TokenStore } from "../../../../durable-objects/session/tools/token-store";
import { createTables } from "../../../../durable-objects/session/session-tables";
import { RenewedTokens } from "../../../../src/tools/mcp/renewed-tokens";
import { toSealingKey } from "../../../../src/tenancy/sealing";
import { Disk } from "../../../../simulated/disk";

const HOLDER = { tenant: "t", session: "s" };
const OLD = toSealingKey(1, new Uint8Array(32).fill(1));
const NEW = toSealingKey(2, new Uint8Array(32).fill(2));
const NO_MISHAPS = {
  beforeCommit: () => {},
  afterCommit: () => {},
  durable: () => {},
  lagMs: () => 0,
};

let disk: Disk;
/** The token store of one start of a session, over the same storage. */
function shelf(SEALING_KEYS: string, holder = HOLDER): TokenStore {
  const { sql } = disk.state(
    () => {},
    () => {},
  ).storage;
  createTables(sql);
  return new TokenStore({ SEALING_KEYS }, holder, sql);
}
const begin = (): void => {
  disk = new Disk({
    mishaps: NO_MISHAPS,
    schedule: (_, run) => void setTimeout(run, 0),
    toWorld: (at) => at,
  });
};
const restart = async (): Promise<void> => {
  await disk.whenDurable();
  disk.crash();
  disk.revive();
};
afterEach(() => disk.close());

describe("renewed tokens of a session", () => {
  it.each([
    { name: "survive a restart", before: NEW, after: NEW, finds: "secret-2" },
    {
      name: "survive a restart with a new sealing key beside theirs",
      before: OLD,
      after: `${NEW},${OLD}`,
      finds: "secret-2",
    },
    { name: "are lost with the key that sealed them", before: OLD, after: NEW, finds: undefined },
    {
      name: "are lost at a restart without a sealing key",
      before: "",
      after: NEW,
      finds: undefined,
    },
  ])("$name", async ({ before, after, finds }) => {
    begin();
    const first = shelf(before);
    first.set("id", "secret-1");
    first.set("id", "secret-2");
    expect([first.get("id"), first.get("other")]).toEqual(["secret-2", undefined]);
    await restart();
    expect(shelf(after).get("id")).toBe(finds);
  });

  it("are stored sealed, by the first key, as soon as they are read", () => {
    begin();
    const rows = () =>
      disk
        .read<{ sealed: string }>("SELECT sealed FROM renewed_tokens")
        .map(({ sealed }) => sealed);
    shelf(OLD).set("id", "secret-1");
    expect(rows()).toEqual([expect.stringMatching(/^1:[\w-]+$/)]);
    shelf(`${NEW},${OLD}`).get("id");
    expect(rows()).toEqual([expect.stringMatching(/^2:[\w-]+$/)]);
    expect(rows().join()).not.toContain("secret");
    expect(shelf(NEW).get("id")).toBe("secret-1");
  });

  it("cannot be opened for another session, tenant or server", () => {
    begin();
    shelf(NEW).set("id", "secret-1");
    expect(shelf(NEW, { ...HOLDER, session: "other" }).get("id")).toBe(undefined);
    expect(shelf(NEW, { ...HOLDER, tenant: "other" }).get("id")).toBe(undefined);
    disk.read("UPDATE renewed_tokens SET id = 'another' RETURNING id");
    expect(shelf(NEW).get("another")).toBe(undefined);
  });

  it("that are too long for a row last until a restart, and earlier ones are deleted", async () => {
    begin();
    const first = shelf(NEW);
    first.set("id", "secret-1");
    first.set("id", "x".repeat(100_000));
    expect(first.get("id")).toHaveLength(100_000);
    await restart();
    expect(shelf(NEW).get("id")).toBe(undefined);
  });

  it("are found by the tokens they replaced, and by no others", async () => {
    begin();
    const given = {
      access_token: "a",
      token_type: "Bearer",
      refresh_token: "r",
      issuer: "https://issuer.example.com",
    };
    const fresh = { ...given, access_token: "b", refresh_token: "s" };
    await new RenewedTokens(shelf(NEW)).keep("id", given, fresh);
    await restart();
    const found = new RenewedTokens(shelf(NEW));
    expect(await found.find("id", given)).toEqual(fresh);
    expect(await found.find("id", { ...given, refresh_token: "set anew" })).toBe(null);
  });
});
