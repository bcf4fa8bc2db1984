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
/** Creates a token store over the storage, like each start of the session. */
function newStore(SEALING_KEYS: string, holder = HOLDER): TokenStore {
  const { sql } = disk.state(
    () => {},
    () => {},
  ).storage;
  createTables(sql);
  return new TokenStore({ SEALING_KEYS }, holder, sql);
}
/** Creates a new storage. */
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
      name: "survive a restart with a new sealing key if the old key is still set",
      before: OLD,
      after: `${NEW},${OLD}`,
      finds: "secret-2",
    },
    {
      name: "are lost if the key that sealed them is removed",
      before: OLD,
      after: NEW,
      finds: undefined,
    },
    {
      name: "are lost at a restart if no sealing key was set",
      before: "",
      after: NEW,
      finds: undefined,
    },
  ])("$name", async ({ before, after, finds }) => {
    begin();
    const first = newStore(before);
    first.set("id", "secret-1");
    first.set("id", "secret-2");
    expect([first.get("id"), first.get("other")]).toEqual(["secret-2", undefined]);
    await restart();
    expect(newStore(after).get("id")).toBe(finds);
  });

  it("are stored in sealed form, and are sealed with a new key when they are read", () => {
    begin();
    const rows = () =>
      disk
        .read<{ sealed: string }>("SELECT sealed FROM renewed_tokens")
        .map(({ sealed }) => sealed);
    newStore(OLD).set("id", "secret-1");
    expect(rows()).toEqual([expect.stringMatching(/^1:[\w-]+$/)]);
    newStore(`${NEW},${OLD}`).get("id");
    expect(rows()).toEqual([expect.stringMatching(/^2:[\w-]+$/)]);
    expect(rows().join()).not.toContain("secret");
    expect(newStore(NEW).get("id")).toBe("secret-1");
  });

  it("cannot be opened for another session, tenant or server", () => {
    begin();
    newStore(NEW).set("id", "secret-1");
    expect(newStore(NEW, { ...HOLDER, session: "other" }).get("id")).toBe(undefined);
    expect(newStore(NEW, { ...HOLDER, tenant: "other" }).get("id")).toBe(undefined);
    disk.read("UPDATE renewed_tokens SET id = 'another' RETURNING id");
    expect(newStore(NEW).get("another")).toBe(undefined);
  });

  it("that are too long to be stored exist until a restart, and replace stored tokens", async () => {
    begin();
    const first = newStore(NEW);
    first.set("id", "secret-1");
    first.set("id", "x".repeat(100_000));
    expect(first.get("id")).toHaveLength(100_000);
    await restart();
    expect(newStore(NEW).get("id")).toBe(undefined);
  });

  it("are found only by the tokens that they replaced", async () => {
    begin();
    const originalTokens = {
      access_token: "a",
      token_type: "Bearer",
      refresh_token: "r",
      issuer: "https://issuer.example.com",
    };
    const renewedTokens = { ...originalTokens, access_token: "b", refresh_token: "s" };
    await new RenewedTokens(newStore(NEW)).keep("id", originalTokens, renewedTokens);
    await restart();
    const found = new RenewedTokens(newStore(NEW));
    expect(await found.find("id", originalTokens)).toEqual(renewedTokens);
    const otherTokens = { ...originalTokens, refresh_token: "another" };
    expect(await found.find("id", otherTokens)).toBe(null);
  });
});
