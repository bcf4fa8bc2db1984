import { expect, it } from "vitest";
import { teamOf } from "../durable-objects/session-client";
import { ask, askWith, makeKey } from "./keyed-client";

/** I18: whatever there is of one tenant, the keys of another find nothing of it, on any address with any method. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const first = await makeKey("first", { scopes: "admin" });
const second = await makeKey("second", { scopes: "admin" });

const third = await makeKey("third", { scopes: "admin" }); // its log holds no address that anyone asked in vain

const body = { question: "What is six times seven?", config: teamOf(["quick", "plain"]) };
const started = await askWith(first.key, "/api/runs", { method: "POST", body });
const { session_id } = await started.json<{ session_id: string }>();
await (await askWith(first.key, `/api/sessions/${session_id}/turns/1/events`)).text();

const UNKNOWN = `session_${"0".repeat(26)}`;
const paths = Object.keys((await (await ask("/openapi.json")).json<{ paths: Record<string, unknown> }>()).paths);
const OWN: Record<string, string> = { id: session_id, turn: "1", label: "agent1.1", key: first.id };
const NOBODYS: Record<string, string> = { id: UNKNOWN, turn: "1", label: "agent1.1", key: "0".repeat(26) };
const fill = (path: string, names: Record<string, string>) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? "unknown0");

/** Status, headers and body, without what names the request or the address. */
async function answerOf(key: string, path: string, method: string) {
  const response = await askWith(key, path, {
    method,
    ...(method === "POST" ? { body: path.endsWith("/turns") ? { question: body.question } : body } : {}),
  });
  const text = (await response.text()).replace(/"request_id":"[^"]*"/, "");
  return { status: response.status, headers: [...response.headers].sort(), text };
}

const cases = paths.flatMap((path) => METHODS.map((method) => ({ path, method })));

it("the addresses are those of the service's own document", () => {
  expect(paths).toEqual(
    expect.arrayContaining(["/api/sessions/{id}", "/api/sessions/{id}/events", "/api/sessions/{id}/tickets", "/api/keys/{key}"]),
  );
});

it.each(cases.filter(({ path }) => path.includes("{id}") || path.includes("{key}")))(
  "A8 $method $path answers with another's ids as with nobody's",
  async ({ path, method }) => {
    const foreign = await answerOf(second.key, fill(path, OWN), method);
    expect(foreign).toEqual(await answerOf(second.key, fill(path, NOBODYS), method));
    expect([404, 405]).toContain(foreign.status);
  },
);

it.each(cases.filter(({ path, method }) => !path.includes("{") && method === "GET"))(
  "B18 GET $path tells nothing of another's, and may not be kept for anyone",
  async ({ path }) => {
    const { text, headers } = await answerOf(third.key, path, "GET");
    expect(headers).toContainEqual(["cache-control", "no-store"]);
    expect(text).not.toContain(session_id);
    expect(text).not.toContain(first.id);
  },
);

it.each([
  { name: "no question", body: "{}", type: "application/json" },
  { name: "no JSON", body: "{", type: "application/json" },
  { name: "a text", body: "hello", type: "text/plain" },
])("a turn with $name is refused as one of an unknown session where the session is another's", async ({ body, type }) => {
  const turn = async (key: string, id: string) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": type };
    return (await ask(`/api/sessions/${id}/turns`, { method: "POST", headers, body })).status;
  };
  expect([await turn(second.key, session_id), await turn(second.key, UNKNOWN)]).toEqual([404, 404]);
  expect([400, 415, 422]).toContain(await turn(first.key, session_id));
});

it("the audit log of one tenant holds what its own keys did, and nothing another's did", async () => {
  const rowsOf = async (key: string) =>
    (await (await askWith(key, "/api/audit?limit=1000")).json<{ data: { key_id: string | null }[] }>()).data;
  await askWith(first.key, `/api/sessions/${session_id}/cancel`, { method: "POST" });
  for (const { key, id } of [first, second]) {
    expect(new Set((await rowsOf(key)).map(({ key_id }) => key_id))).toEqual(new Set([id]));
  }
});

it("an idempotency key is its tenant's own: the same one of another starts another session", async () => {
  const start = async (key: string) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": "shared" };
    const response = await ask("/api/runs", { method: "POST", headers, body: JSON.stringify(body) });
    return (await response.json<{ session_id: string }>()).session_id;
  };
  const ids = [await start(first.key), await start(second.key), await start(first.key)];
  expect([new Set(ids).size, ids[0] === ids[2]]).toEqual([2, true]);
});

it("and everything is still there for its own tenant", async () => {
  expect((await askWith(first.key, `/api/sessions/${session_id}`)).status).toBe(200);
  const turn = await askWith(first.key, `/api/sessions/${session_id}/turns/1`);
  expect(await turn.json()).toMatchObject({ status: "completed" });
  expect((await (await askWith(first.key, "/api/keys")).text()).includes(first.id)).toBe(true);
});
