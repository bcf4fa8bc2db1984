import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { teamOf } from "../durable-objects/session/session-client";
import { ask, askWith, keys, makeKey } from "./keyed-client";

const UNKNOWN = "/api/sessions/session_unknown00";
/** Records database queries. The returned function lists their statement types and tables. */
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
const wrongKey = `${key.slice(0, -4)}AAAA`;

describe("a request queries the database", () => {
  it("once for its key, and once for its session", async () => {
    const queries = watchQueries();
    expect((await askWith(key, UNKNOWN)).status).toBe(404);
    expect(queries()).toEqual(["SELECT api_keys", "SELECT sessions"]);
  });

  it("once for an invalid key, because the service remembers that it has keys", async () => {
    await askWith(wrongKey, UNKNOWN);
    const queries = watchQueries();
    for (const presentedKey of [wrongKey, "none", key.replace(id, "0".repeat(26))])
      expect((await askWith(presentedKey, UNKNOWN)).status).toBe(401);
    expect(queries()).toEqual(["SELECT api_keys", "SELECT api_keys", "SELECT api_keys"]);
  });

  it("once for the row of a new session, and once for the tenant's storage", async () => {
    const start = (config: object) =>
      askWith(key, "/api/runs", { method: "POST", body: { question: "And six?", config } });
    await start(teamOf(["quick"])); // The tenant's object reads its limits for the first time.
    const queries = watchQueries();
    expect((await start(teamOf(["quick"]))).status).toBe(202);
    const sqlUntilResponse = queries().filter((sql) => !sql.startsWith("UPDATE"));
    expect(sqlUntilResponse).toEqual([
      "SELECT api_keys",
      "INSERT sessions",
      expect.stringContaining("FROM stored_bytes"),
    ]);
  });

  it("for the secrets of its tenant only if a config can name one", async () => {
    const check = (config: object) =>
      askWith(key, "/api/configs/validate", { method: "POST", body: { config } });
    const queries = watchQueries();
    await check(teamOf(["quick"]));
    expect(queries()).toEqual(["SELECT api_keys"]);
    await check(teamOf(["quick"], { note: "costs $5" }));
    expect(queries().slice(1)).toEqual([
      "SELECT api_keys",
      expect.stringContaining("FROM tenant_secrets"),
    ]);
  });

  it("never for a request without a key to a public host name", async () => {
    await ask(`https://massgen.example.com${UNKNOWN}`);
    const queries = watchQueries();
    expect((await ask(`https://massgen.example.com${UNKNOWN}`)).status).toBe(401);
    expect(queries()).toEqual([]);
  });
});

it("the last use of a key is written at most once a minute", async () => {
  const minute = 60_000;
  const now = Date.now();
  const { id: usedId } = await makeKey("acme");
  for (const time of [now, now + 1, now + minute - 1]) await keys.noteUse(usedId, time);
  expect((await keys.find(usedId))?.last_used_at).toBe(now);
  await keys.noteUse(usedId, now + minute);
  expect((await keys.find(usedId))?.last_used_at).toBe(now + minute);
});
