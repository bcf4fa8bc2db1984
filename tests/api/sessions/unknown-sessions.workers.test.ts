import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sessionName } from "../../../src/tenancy/principal";
import { teamOf } from "../../durable-objects/session/session-client";
import { ask, askWith, makeKey } from "../keyed-client";

/** An id that no session has. */
const unknownId = (number: number): string => `session_${String(number).padStart(26, "0")}`;
/** Method and path, below the path of a session, of every kind of route for a session. */
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

async function startRun(): Promise<string> {
  const body = { question: "What is six times seven?", config: teamOf(["quick", "plain"]) };
  const started = await askWith(key, "/api/runs", { method: "POST", body });
  return (await started.json<{ session_id: string }>()).session_id;
}

const bodyOf = (method: string) => (method === "POST" ? { body: { question: "And now?" } } : {});
const countObjects = async (): Promise<number> => (await listDurableObjectIds(env.SESSIONS)).length;

afterEach(() => void vi.restoreAllMocks());

describe("a session that is not in the index", () => {
  it("creates no Durable Object, for any route and any number of ids (L19)", async () => {
    const running = await startRun();
    expect((await askWith(key, `/api/sessions/${running}`)).status).toBe(200);
    const before = await countObjects();
    expect(before).toBeGreaterThan(0);
    const getObject = vi.spyOn(env.SESSIONS, "get");
    for (let nth = 0; nth < 300; nth += 1) {
      const [method, subpath] = ROUTES[nth % ROUTES.length] ?? ["GET", ""];
      const response = await askWith(key, `/api/sessions/${unknownId(nth)}${subpath}`, {
        method,
        ...bodyOf(method),
      });
      expect([
        method,
        subpath,
        response.status,
        (await response.json<{ code: string }>()).code,
      ]).toEqual([...[method, subpath, 404], "session_not_found"]);
    }
    expect(getObject).not.toHaveBeenCalled();
    expect(await countObjects()).toBe(before);
  });

  it("creates no Durable Object for an invalid ticket, which needs no key (L19)", async () => {
    const before = await countObjects();
    for (let nth = 0; nth < 20; nth += 1) {
      const response = await ask(
        `https://massgen.example.com/api/sessions/${unknownId(1_000 + nth)}/events?ticket=${TICKET}`,
      );
      expect(response.status).toBe(401);
    }
    expect(await countObjects()).toBe(before);
  });

  it("gets the same response after the same queries as a session of another tenant (L19)", async () => {
    const foreign = await startRun();
    const prepare = vi.spyOn(env.DB, "prepare");
    const responses: unknown[] = [];
    for (const id of [foreign, unknownId(1)]) {
      prepare.mockClear();
      const response = await askWith(foreignKey, `/api/sessions/${id}`);
      const { request_id: _, ...problem } = await response.json<Record<string, unknown>>();
      responses.push({
        status: response.status,
        problem,
        queries: prepare.mock.calls.map(([sql]) => sql),
      });
    }
    expect(responses[0]).toEqual(responses[1]);
    const ids = (await listDurableObjectIds(env.SESSIONS)).map(String);
    expect(ids).not.toContain(String(env.SESSIONS.idFromName(sessionName(null, "other", foreign))));
  });
});

describe("a session that is in the index", () => {
  it("is found from the response to its start until it is erased (L19)", async () => {
    const id = await startRun();
    expect((await askWith(key, `/api/sessions/${id}/turns/1`)).status).toBe(200);
    expect((await askWith(key, `/api/sessions/${id}`, { method: "DELETE" })).status).toBe(204);
    const getObject = vi.spyOn(env.SESSIONS, "get");
    expect((await askWith(key, `/api/sessions/${id}`)).status).toBe(404);
    expect((await askWith(key, `/api/sessions/${id}`, { method: "DELETE" })).status).toBe(404);
    expect(getObject).not.toHaveBeenCalled();
  });

  it("stays readable while the index is not available (L19)", async () => {
    const id = await startRun();
    const prepare = env.DB.prepare.bind(env.DB);
    vi.spyOn(console, "error").mockReturnValue();
    vi.spyOn(env.DB, "prepare").mockImplementation((sql) => {
      if (/FROM sessions/.test(sql)) throw new Error("D1_ERROR: the database is down");
      return prepare(sql);
    });
    expect((await askWith(key, `/api/sessions/${id}`)).status).toBe(200);
    expect((await askWith(key, `/api/sessions/${unknownId(1)}`)).status).toBe(404);
  });

  it("needs one query of the index for each request, including streams and archives (L19)", async () => {
    const id = await startRun();
    await (await askWith(key, `/api/sessions/${id}/turns/1/events`)).text();
    const prepare = vi.spyOn(env.DB, "prepare");
    for (const subpath of ["", "/turns/1/events", "/turns/1/files", "/turns/1/archive.zip"]) {
      prepare.mockClear();
      await (await askWith(key, `/api/sessions/${id}${subpath}`)).arrayBuffer();
      expect([
        subpath,
        prepare.mock.calls.filter(([sql]) => /FROM sessions/.test(sql)).length,
      ]).toEqual([subpath, 1]);
    }
  });
});
