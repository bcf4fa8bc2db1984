import { expect, it, vi } from "vitest";
import * as z from "zod";
import { hashOf } from "../../src/workspace/snapshot";
import type { EvalStarted } from "../../src/protocol/api/evals";
import { teamOf } from "../durable-objects/session/session-client";
import { ask, askWith, makeKey } from "./keyed-client";

// I18: with the keys of one tenant, no path and no method returns data of another tenant.

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const first = await makeKey("first", { scopes: "admin" });
const second = await makeKey("second", { scopes: "admin" });

// This tenant sends no refused requests, so its audit log has no paths with ids of others.
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
const manifestResponse = await askWith(first.key, `/api/contexts/${CONTEXT}`, {
  method: "PUT",
  body: MANIFEST,
});
const { version } = await manifestResponse.json<{ version: string }>();
const firstTenantHeaders = { authorization: `Bearer ${first.key}` };
await ask(`/api/contexts/${CONTEXT}/blobs/${HASH}?version=${version}`, {
  method: "PUT",
  headers: firstTenantHeaders,
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
const document = DocumentSchema.parse(await (await ask("/openapi.json")).json());
/**
 * The documented paths. The parameter of a secret's name gets its own name here: it belongs to a
 * tenant, but the name of a team does not.
 */
const paths = Object.fromEntries(
  Object.entries(document.paths).map(([path, item]) => [
    path.replace("/secrets/{name}", "/secrets/{secret}"),
    item,
  ]),
);

const SECRET = "FIRST_ONES_TOKEN";
const secretBody = {
  value: "the-first-ones-value",
  bindings: [{ origin: "https://api.example.com" }],
};
await ask(`/api/secrets/${SECRET}`, {
  method: "PUT",
  headers: { authorization: `Bearer ${first.key}`, "content-type": "application/json" },
  body: JSON.stringify(secretBody),
});

type ValuesByName = Readonly<Record<string, string>>;
/**
 * Path parameters that identify data of a tenant, each with a value of the first tenant. Add new
 * parameters here.
 */
const OWN_IDS: ValuesByName = {
  id: session_id,
  key: first.id,
  run: links.run.split("/").at(-1) ?? "",
  context: CONTEXT,
  version,
  secret: SECRET,
};
/** Path parameters that are the same for every tenant, or that belong to an id before them. */
const SHARED_VALUES: ValuesByName = {
  turn: "1",
  label: "agent1.1",
  queued: "queued_00000000000000000000000001",
  suite: "simulated",
  name: "demo",
  sha256: HASH,
  path: "a.txt",
};
/**
 * Paths whose query parameter `after` is an id of a tenant, each with an id of the first
 * tenant.
 */
const OWN_PAGE_STARTS: ValuesByName = {
  "/api/sessions": session_id,
  "/api/keys": first.id,
  "/api/contexts": CONTEXT,
  "/api/evals/{suite}/runs": OWN_IDS["run"] ?? "",
};
/** Headers and query parameters that contain no ids of a tenant. */
const WITHOUT_IDS = [
  "limit",
  "attempt",
  "detail",
  "last-event-id",
  "idempotency-key",
  "ticket",
  "inline",
  "from",
  "to",
  "format",
];
/** Paths whose query parameter `after` is a number that starts from 1 in each session or log. */
const COUNTED_PATHS = [
  "/api/audit",
  "/api/sessions/{id}/events",
  "/api/sessions/{id}/turns",
  "/api/sessions/{id}/turns/{turn}/events",
];

/** An id that differs only in its last character. No tenant has this id. */
const neighbourOf = (id: string): string => id.slice(0, -1) + (id.endsWith("0") ? "1" : "0");
const UNKNOWN_IDS: ValuesByName = Object.fromEntries(
  Object.entries(OWN_IDS).map(([name, id]) => [name, neighbourOf(id)]),
);
const UNKNOWN_SESSION = neighbourOf(session_id);
const namesIn = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
/** The path with its parameters filled in. A path of a context also gets a version. */
const fill = (path: string, names: ValuesByName) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? SHARED_VALUES[name] ?? "") +
  (path.includes("{context}") ? `?version=${names["version"] ?? version}` : "");

/** Status, headers and body of a response, without the id of the request. */
async function responseOf(key: string, path: string, method: string) {
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
const isOwned = (path: string): boolean => namesIn(path).some((name) => name in OWN_IDS);
/** Requests that create data under a name that the tenant chooses. Two tenants can use one name. */
const CREATING_REQUESTS = ["PUT /api/contexts/{context}", "PUT /api/secrets/{secret}"];

it("this test knows every path parameter and query parameter of the document", () => {
  const names = Object.keys(paths).flatMap(namesIn);
  expect(names.filter((name) => !(name in OWN_IDS || name in SHARED_VALUES))).toEqual([]);
  const queries = Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item).flatMap(({ parameters }) =>
      parameters.filter((parameter) => parameter.in !== "path").map(({ name }) => ({ path, name })),
    ),
  );
  const isKnown = ({ path, name }: { path: string; name: string }) =>
    name === "after"
      ? path in OWN_PAGE_STARTS || COUNTED_PATHS.includes(path)
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
  "A8 $method $path returns the same response for another tenant's ids and for unknown ids",
  async ({ path, method }) => {
    const foreign = await responseOf(second.key, fill(path, OWN_IDS), method);
    expect(foreign).toEqual(await responseOf(second.key, fill(path, UNKNOWN_IDS), method));
    expect(CREATING_REQUESTS.includes(`${method} ${path}`) ? [400] : [404, 405]).toContain(
      foreign.status,
    );
  },
);

it.each(Object.entries(OWN_PAGE_STARTS))(
  "A8 GET %s returns the same page after another tenant's id and after an unknown id",
  async (path, id) => {
    const pageAfter = (start: string) =>
      responseOf(second.key, `${fill(path, OWN_IDS)}?after=${start}`, "GET");
    const foreign = await pageAfter(id);
    expect(foreign).toEqual(await pageAfter(neighbourOf(id)));
    expect(foreign.status).toBe(200);
  },
);

it.each(cases.filter(({ path }) => !isOwned(path)))(
  "B18 $method $path contains no id of another tenant, and forbids caching",
  async ({ path, method }) => {
    const { text, headers } = await responseOf(third.key, fill(path, OWN_IDS), method);
    expect(headers).toContainEqual(["cache-control", "no-store"]);
    for (const id of Object.values(OWN_IDS)) expect(text).not.toContain(id);
  },
);

it.each([
  { name: "a body without a question", body: "{}", type: "application/json" },
  { name: "a body that is not JSON", body: "{", type: "application/json" },
  { name: "a body of plain text", body: "hello", type: "text/plain" },
])(
  "$name gets the same response for a session of another tenant and for an unknown session",
  async ({ body, type }) => {
    const turn = async (key: string, id: string) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": type };
      return (await ask(`/api/sessions/${id}/turns`, { method: "POST", headers, body })).status;
    };
    expect([await turn(second.key, session_id), await turn(second.key, UNKNOWN_SESSION)]).toEqual([
      404, 404,
    ]);
    expect([400, 415, 422]).toContain(await turn(first.key, session_id));
  },
);

it("the audit log of a tenant has only the actions of its own keys", async () => {
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

it("the same idempotency key of another tenant starts another session", async () => {
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

it("the first tenant can still read all its data", async () => {
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
