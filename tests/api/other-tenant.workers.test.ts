import { expect, it, vi } from "vitest";
import { z } from "zod";
import { hashOf } from "../../src/workspace/snapshot";
import type { EvalStarted } from "../../src/protocol/api/evals";
import { teamOf } from "../durable-objects/session/session-client";
import { ask, askWith, makeKey } from "./keyed-client";

/** I18: keys of one tenant find nothing of another tenant, at any address with any method. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const first = await makeKey("first", { scopes: "admin" });
const second = await makeKey("second", { scopes: "admin" });

// A tenant without refused requests: its audit log has none of their addresses.
const third = await makeKey("third", { scopes: "admin" });

const body = { question: "What is six times seven?", config: teamOf(["quick", "plain"]) };
const started = await askWith(first.key, "/api/runs", { method: "POST", body });
const { session_id } = await started.json<{ session_id: string }>();
await (await askWith(first.key, `/api/sessions/${session_id}/turns/1/events`)).text();

const { links } = await (
  await askWith(first.key, "/api/evals/simulated/runs", { method: "POST" })
).json<EvalStarted>();
await vi.waitUntil(async () => (await askWith(first.key, links.run)).ok, { timeout: 10_000 });

/** A committed context of the first tenant, and the hash of its file. */
const HASH = await hashOf(new TextEncoder().encode("mine"));
const MANIFEST = { files: [{ path: "a.txt", sha256: HASH, size: 4 }] };
const CONTEXT = "handbook";
const begun = await askWith(first.key, `/api/contexts/${CONTEXT}`, {
  method: "PUT",
  body: MANIFEST,
});
const { version } = await begun.json<{ version: string }>();
const asFirst = { authorization: `Bearer ${first.key}` };
await ask(`/api/contexts/${CONTEXT}/blobs/${HASH}?version=${version}`, {
  method: "PUT",
  headers: asFirst,
  body: "mine",
});
const committed = await askWith(first.key, `/api/contexts/${CONTEXT}`, {
  method: "PUT",
  body: MANIFEST,
});

const DocumentSchema = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ parameters: z.array(z.object({ name: z.string(), in: z.string() })).default([]) }),
    ),
  ),
});
const documented = DocumentSchema.parse(await (await ask("/openapi.json")).json());
/** The name of a secret belongs to a tenant, the name of a team does not. */
const paths = Object.fromEntries(
  Object.entries(documented.paths).map(([path, item]) => [
    path.replace("/secrets/{name}", "/secrets/{secret}"),
    item,
  ]),
);

const SECRET = "FIRST_ONES_TOKEN";
const kept = { value: "the-first-ones-value", bindings: [{ origin: "https://api.example.com" }] };
await ask(`/api/secrets/${SECRET}`, {
  method: "PUT",
  headers: { authorization: `Bearer ${first.key}`, "content-type": "application/json" },
  body: JSON.stringify(kept),
});

type Names = Readonly<Record<string, string>>;
/**
 * Path parameters that name something of a tenant, each with a value of the first tenant. Add new
 * ones here.
 */
const OWN: Names = {
  id: session_id,
  key: first.id,
  run: links.run.split("/").at(-1) ?? "",
  context: CONTEXT,
  version,
  secret: SECRET,
};
/** Path parameters that mean the same for every tenant, or that belong to an id before them. */
const SHARED: Names = {
  turn: "1",
  label: "agent1.1",
  suite: "simulated",
  name: "demo",
  sha256: HASH,
  path: "a.txt",
};
/** Query parameters that may be an id: a page begins after it. */
const OWN_AFTER: Names = {
  "/api/sessions": session_id,
  "/api/keys": first.id,
  "/api/contexts": CONTEXT,
  "/api/evals/{suite}/runs": OWN["run"] ?? "",
};
/**
 * Headers and query parameters without ids, or with ids that count from 1 in each session or log.
 */
const WITHOUT_IDS = ["limit", "attempt", "detail", "last-event-id", "idempotency-key", "ticket"];
const COUNTED_AFTER = [
  "/api/audit",
  "/api/sessions/{id}/events",
  "/api/sessions/{id}/turns/{turn}/events",
];

/** The id next to this one in every order. It belongs to no tenant. */
const beside = (id: string): string => id.slice(0, -1) + (id.endsWith("0") ? "1" : "0");
const NOBODYS: Names = Object.fromEntries(
  Object.entries(OWN).map(([name, id]) => [name, beside(id)]),
);
const UNKNOWN = beside(session_id);
const namesIn = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
/** The address, with the version if the name is that of a context. */
const fill = (path: string, names: Names) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? SHARED[name] ?? "") +
  (path.includes("{context}") ? `?version=${names["version"] ?? version}` : "");

/** Status, headers and body, without the id of the request. */
async function answerOf(key: string, path: string, method: string) {
  const response = await askWith(key, path, {
    method,
    ...(method === "POST"
      ? { body: path.endsWith("/turns") ? { question: body.question } : body }
      : {}),
  });
  const text = (await response.text()).replace(/"request_id":"[^"]*"/, "");
  return { status: response.status, headers: [...response.headers].sort(), text };
}

const cases = Object.keys(paths).flatMap((path) => METHODS.map((method) => ({ path, method })));
const isOwned = (path: string): boolean => namesIn(path).some((name) => name in OWN);
/** Names that tenants choose: the same name is a different thing for another tenant. */
const MAKES = ["PUT /api/contexts/{context}", "PUT /api/secrets/{secret}"];

it("every address of the document is tested: each path and query parameter is known here", () => {
  const names = Object.keys(paths).flatMap(namesIn);
  expect(names.filter((name) => !(name in OWN || name in SHARED))).toEqual([]);
  const queries = Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item).flatMap(({ parameters }) =>
      parameters.filter((parameter) => parameter.in !== "path").map(({ name }) => ({ path, name })),
    ),
  );
  const isKnown = ({ path, name }: { path: string; name: string }) =>
    name === "after"
      ? path in OWN_AFTER || COUNTED_AFTER.includes(path)
      : WITHOUT_IDS.includes(name) || (name === "version" && path.includes("{context}"));
  expect(queries.filter((query) => !isKnown(query))).toEqual([]);
  expect(cases.filter(({ path }) => isOwned(path)).map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      "/api/sessions/{id}",
      "/api/keys/{key}",
      "/api/secrets/{secret}",
      "/api/evals/{suite}/runs/{run}",
    ]),
  );
});

it.each(cases.filter(({ path }) => isOwned(path)))(
  "A8 $method $path responds to another tenant's ids like to unknown ids",
  async ({ path, method }) => {
    const foreign = await answerOf(second.key, fill(path, OWN), method);
    expect(foreign).toEqual(await answerOf(second.key, fill(path, NOBODYS), method));
    expect(MAKES.includes(`${method} ${path}`) ? [400] : [404, 405]).toContain(foreign.status);
  },
);

it.each(Object.entries(OWN_AFTER))(
  "A8 GET %s responds after another tenant's id like after an unknown id",
  async (path, id) => {
    const after = (of: string) => answerOf(second.key, `${fill(path, OWN)}?after=${of}`, "GET");
    const foreign = await after(id);
    expect(foreign).toEqual(await after(beside(id)));
    expect(foreign.status).toBe(200);
  },
);

it.each(cases.filter(({ path }) => !isOwned(path)))(
  "B18 $method $path reveals nothing of another tenant, and forbids shared caching",
  async ({ path, method }) => {
    const { text, headers } = await answerOf(third.key, fill(path, OWN), method);
    expect(headers).toContainEqual(["cache-control", "no-store"]);
    for (const id of Object.values(OWN)) expect(text).not.toContain(id);
  },
);

it.each([
  { name: "no question", body: "{}", type: "application/json" },
  { name: "no JSON", body: "{", type: "application/json" },
  { name: "a text", body: "hello", type: "text/plain" },
])(
  "a turn with $name is refused like that of an unknown session if the session is another tenant's",
  async ({ body, type }) => {
    const turn = async (key: string, id: string) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": type };
      return (await ask(`/api/sessions/${id}/turns`, { method: "POST", headers, body })).status;
    };
    expect([await turn(second.key, session_id), await turn(second.key, UNKNOWN)]).toEqual([
      404, 404,
    ]);
    expect([400, 415, 422]).toContain(await turn(first.key, session_id));
  },
);

it("the audit log of a tenant has the actions of its own keys only", async () => {
  const rowsOf = async (key: string) =>
    (
      await (
        await askWith(key, "/api/audit?limit=1000")
      ).json<{ data: { key_id: string | null }[] }>()
    ).data;
  await askWith(first.key, `/api/sessions/${session_id}/cancel`, { method: "POST" });
  for (const { key, id } of [first, second]) {
    expect(new Set((await rowsOf(key)).map(({ key_id }) => key_id))).toEqual(new Set([id]));
  }
});

it("an idempotency key belongs to its tenant: the same key of another tenant starts another session", async () => {
  const start = async (key: string) => {
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": "shared",
    };
    const response = await ask("/api/runs", {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await response.json<{ session_id: string }>()).session_id;
  };
  const ids = [await start(first.key), await start(second.key), await start(first.key)];
  expect([new Set(ids).size, ids[0] === ids[2]]).toEqual([2, true]);
});

it("everything is still there for its own tenant", async () => {
  expect((await askWith(first.key, `/api/sessions/${session_id}`)).status).toBe(200);
  const turn = await askWith(first.key, `/api/sessions/${session_id}/turns/1`);
  expect(await turn.json()).toMatchObject({ status: "completed" });
  expect((await (await askWith(first.key, "/api/keys")).text()).includes(first.id)).toBe(true);
  expect((await (await askWith(first.key, "/api/secrets")).text()).includes(SECRET)).toBe(true);
  expect((await askWith(first.key, links.run)).status).toBe(200);
  expect([committed.status, (await askWith(first.key, `/api/contexts/${CONTEXT}`)).status]).toEqual(
    [201, 200],
  );
});
