import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ask, askWith, keys, makeKey } from "./keyed-client";

const UNKNOWN = "/api/sessions/session_unknown00";
/** The queries of the database from now on: the first two words and the table. */
function watchQueries(): () => string[] {
  const prepare = vi.spyOn(env.DB, "prepare");
  return () =>
    prepare.mock.calls.map(
      ([sql]) =>
        /^(SELECT|UPDATE|INSERT|DELETE).*?\b(\w+_?keys|sessions|start_claims)\b/s
          .exec(sql)
          ?.slice(1, 3)
          .join(" ") ?? sql,
    );
}
afterEach(() => void vi.restoreAllMocks());

const { key, id } = await makeKey("acme", { last_used_at: Date.now() });
const wrong = `${key.slice(0, -4)}AAAA`;

describe("a request queries the database", () => {
  it("once for its key, and once for its session", async () => {
    const queries = watchQueries();
    expect((await askWith(key, UNKNOWN)).status).toBe(404);
    expect(queries()).toEqual(["SELECT api_keys", "SELECT sessions"]);
  });

  it("once for an invalid key, because a service that has a key always keeps one", async () => {
    await askWith(wrong, UNKNOWN);
    const queries = watchQueries();
    for (const shown of [wrong, "none", key.replace(id, "0".repeat(26))])
      expect((await askWith(shown, UNKNOWN)).status).toBe(401);
    expect(queries()).toEqual(["SELECT api_keys", "SELECT api_keys", "SELECT api_keys"]);
  });

  it("never without a key from another machine", async () => {
    await ask(`https://massgen.example.com${UNKNOWN}`);
    const queries = watchQueries();
    expect((await ask(`https://massgen.example.com${UNKNOWN}`)).status).toBe(401);
    expect(queries()).toEqual([]);
  });
});

it("the last use of a key is written once a minute, however many requests arrive at once", async () => {
  const minute = 60_000;
  const now = Date.now();
  const { id: used } = await makeKey("acme");
  for (const at of [now, now + 1, now + minute - 1]) await keys.noteUse(used, at);
  expect((await keys.find(used))?.last_used_at).toBe(now);
  await keys.noteUse(used, now + minute);
  expect((await keys.find(used))?.last_used_at).toBe(now + minute);
});
