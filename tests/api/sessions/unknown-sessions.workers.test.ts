import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sessionName } from "../../../src/tenancy/principal";
import { teamOf } from "../../durable-objects/session/session-client";
import { ask, askWith, makeKey } from "../keyed-client";

/** An id that no session has. */
const madeUp = (nth: number): string => `session_${String(nth).padStart(26, "0")}`;
/**
 * Routes below the address of a session, with the method: every kind of route that names a session.
 */
const ROUTES: readonly (readonly [string, string])[] = [
  ["GET", ""],
  ["GET", "/events"],
  ["GET", "/events?limit=5"],
  ["GET", "/turns/1"],
  ["GET", "/turns/1/events"],
  ["GET", "/turns/1/answers/agent1.1"],
  ["GET", "/turns/1/files"],
  ["GET", "/turns/1/files/a.txt"],
  ["GET", "/turns/1/archive.zip"],
  ["GET", "/turns/1/answers/agent1.1/files"],
  ["GET", "/turns/1/answers/agent1.1/files/a.txt"],
  ["GET", "/turns/1/answers/agent1.1/archive.zip"],
  ["GET", "/turns/1/changes"],
  ["GET", `/turns/1/changes/blobs/${"a".repeat(64)}`],
  ["POST", "/cancel"],
  ["POST", "/tickets"],
  ["POST", "/turns"],
  ["DELETE", ""],
];
const TICKET = `mgt_${"A".repeat(43)}_acme`;

const { key } = await makeKey("acme", { scopes: "run", last_used_at: Date.now() });
const { key: foreignKey } = await makeKey("other", { scopes: "run", last_used_at: Date.now() });

async function run(): Promise<string> {
  const body = { question: "What is six times seven?", config: teamOf(["quick", "plain"]) };
  const started = await askWith(key, "/api/runs", { method: "POST", body });
  return (await started.json<{ session_id: string }>()).session_id;
}

const bodyOf = (method: string) => (method === "POST" ? { body: { question: "And now?" } } : {});
const countObjects = async (): Promise<number> => (await listDurableObjectIds(env.SESSIONS)).length;

afterEach(() => void vi.restoreAllMocks());

describe("a session that is not in the index", () => {
  it("creates no object, at any route and for any number of ids (L19)", async () => {
    const running = await run();
    expect((await askWith(key, `/api/sessions/${running}`)).status).toBe(200);
    const before = await countObjects();
    expect(before).toBeGreaterThan(0);
    const reached = vi.spyOn(env.SESSIONS, "get");
    for (let nth = 0; nth < 300; nth += 1) {
      const [method, below] = ROUTES[nth % ROUTES.length] ?? ["GET", ""];
      const answer = await askWith(key, `/api/sessions/${madeUp(nth)}${below}`, {
        method,
        ...bodyOf(method),
      });
      expect([method, below, answer.status, (await answer.json<{ code: string }>()).code]).toEqual([
        ...[method, below, 404],
        "session_not_found",
      ]);
    }
    expect(reached).not.toHaveBeenCalled();
    expect(await countObjects()).toBe(before);
  });

  it("is not reached with an invented ticket, which needs no key (L19)", async () => {
    const before = await countObjects();
    for (let nth = 0; nth < 20; nth += 1) {
      const answer = await ask(
        `https://massgen.example.com/api/sessions/${madeUp(1_000 + nth)}/events?ticket=${TICKET}`,
      );
      expect(answer.status).toBe(401);
    }
    expect(await countObjects()).toBe(before);
  });

  it("is answered like a session of another tenant, after the same queries (L19)", async () => {
    const foreign = await run();
    const prepare = vi.spyOn(env.DB, "prepare");
    const seen: unknown[] = [];
    for (const id of [foreign, madeUp(1)]) {
      prepare.mockClear();
      const answer = await askWith(foreignKey, `/api/sessions/${id}`);
      const { request_id: _, ...problem } = await answer.json<Record<string, unknown>>();
      seen.push({
        status: answer.status,
        problem,
        queries: prepare.mock.calls.map(([sql]) => sql),
      });
    }
    expect(seen[0]).toEqual(seen[1]);
    const ids = (await listDurableObjectIds(env.SESSIONS)).map(String);
    expect(ids).not.toContain(String(env.SESSIONS.idFromName(sessionName(null, "other", foreign))));
  });
});

describe("a session that is in the index", () => {
  it("is found from the moment its start is answered until it is erased (L19)", async () => {
    const id = await run();
    expect((await askWith(key, `/api/sessions/${id}/turns/1`)).status).toBe(200);
    expect((await askWith(key, `/api/sessions/${id}`, { method: "DELETE" })).status).toBe(204);
    const reached = vi.spyOn(env.SESSIONS, "get");
    expect((await askWith(key, `/api/sessions/${id}`)).status).toBe(404);
    expect((await askWith(key, `/api/sessions/${id}`, { method: "DELETE" })).status).toBe(404);
    expect(reached).not.toHaveBeenCalled();
  });

  it("stays readable while the index does not answer (L19)", async () => {
    const id = await run();
    const prepare = env.DB.prepare.bind(env.DB);
    vi.spyOn(console, "error").mockReturnValue();
    vi.spyOn(env.DB, "prepare").mockImplementation((sql) => {
      if (/FROM sessions/.test(sql)) throw new Error("D1_ERROR: the database is down");
      return prepare(sql);
    });
    expect((await askWith(key, `/api/sessions/${id}`)).status).toBe(200);
    expect((await askWith(key, `/api/sessions/${madeUp(1)}`)).status).toBe(404);
  });

  it("costs one read of the index for each request, including streams and archives (L19)", async () => {
    const id = await run();
    await (await askWith(key, `/api/sessions/${id}/turns/1/events`)).text();
    const prepare = vi.spyOn(env.DB, "prepare");
    for (const below of ["", "/turns/1/events", "/turns/1/files", "/turns/1/archive.zip"]) {
      prepare.mockClear();
      await (await askWith(key, `/api/sessions/${id}${below}`)).arrayBuffer();
      expect([
        below,
        prepare.mock.calls.filter(([sql]) => /FROM sessions/.test(sql)).length,
      ]).toEqual([below, 1]);
    }
  });
});
