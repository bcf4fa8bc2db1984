import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, expect, inject, it, vi } from "vitest";
import { logError } from "../../src/redaction/log";
import { sessionName } from "../../src/tenancy/principal";
import { askWith, keys, makeKey, ask } from "./keyed-client";

/**
 * I17: the test puts secrets (canaries) into every place of a request. Then it searches for them in
 * everything that the service has written: logs, responses and rows.
 */
const recordedTexts: string[] = [];
const spies = (["log", "info", "warn", "error", "debug"] as const).map((method) =>
  vi
    .spyOn(console, method)
    .mockImplementation(
      (...parts: unknown[]) => void recordedTexts.push(parts.map(String).join(" ")),
    ),
);
afterAll(() => spies.forEach((spy) => void spy.mockRestore()));

const LITERAL_KEY = "caller-canary-literal-7d1f";
const PASSWORD = "canary-password-55ab";
const KEY_SHAPED = "sk-canary-shaped-0123456789";
const IDEMPOTENCY_KEY = "canary-of-an-order-4711";
const SECRET = "tenant-canary-secret-90ae";
/** The simulated provider repeats this key in its error. */
const ECHOED_KEY = "sk-canary-0123456789abcdef";
const owner = await makeKey("canaries", { scopes: "admin" });
const tickets: string[] = [];

const agent = (id: string, model: string, more: Record<string, unknown> = {}) => ({
  id,
  backend: {
    type: "chatcompletion",
    model,
    base_url: inject("providersUrl"),
    api_key: LITERAL_KEY,
    ...more,
  },
});
const run = (agents: unknown[]) =>
  askWith(owner.key, "/api/runs", {
    method: "POST",
    body: { question: "What is six times seven?", config: { agents } },
  });

/** Starts a run with an idempotency key. Clients may derive such keys from private data. */
const runOnce = (agents: unknown[]) => {
  const headers = {
    authorization: `Bearer ${owner.key}`,
    "content-type": "application/json",
    "idempotency-key": IDEMPOTENCY_KEY,
  };
  const body = JSON.stringify({ question: "What is six times seven?", config: { agents } });
  return ask("/api/runs", { method: "POST", headers, body });
};

/** Every row in the database of a session. */
function rowsOfSession(id: string): Promise<string> {
  const stub = env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, "canaries", id)));
  return runInDurableObject(stub, (_, { storage: { sql } }) => {
    const query =
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'";
    const tables = sql.exec<{ name: string }>(query).toArray();
    return JSON.stringify(tables.map(({ name }) => sql.exec(`SELECT * FROM "${name}"`).toArray()));
  });
}

/** Records a response with its headers. Returns the text. */
async function record(response: Response): Promise<string> {
  const text = `${JSON.stringify([...response.headers])}\n${await response.text()}`;
  recordedTexts.push(text);
  return text;
}

/** Sets a secret of the tenant, correctly and in several wrong ways. */
async function plantInSecrets(): Promise<void> {
  const bindings = [{ origin: "https://api.example.com" }];
  const put = (name: string, body: unknown) =>
    askWith(owner.key, `/api/secrets/${name}`, { method: "PUT", body });
  expect(await record(await put("PLANTED", { value: SECRET, bindings }))).toContain("PLANTED");
  await record(await put("PLANTED", { value: SECRET, bindings: [{ origin: SECRET }] }));
  await record(await put("PLANTED", { value: `${SECRET}\n`, bindings }));
  await record(await put("PLANTED", { value: [SECRET], bindings, more: SECRET }));
  await record(await put("PLANTED", SECRET));
  await record(await put(KEY_SHAPED, { value: SECRET, bindings }));
  await record(await askWith(owner.key, "/api/secrets"));
}

/** Sends configs with secrets in every place where an author may put one. All are refused. */
async function plantInConfigs(): Promise<void> {
  const address = inject("providersUrl").replace("://", `://user:${PASSWORD}@`);
  await record(await run([agent("userinfo", "quick", { base_url: address })]));
  await record(
    await run([
      agent("query", "quick", { base_url: `${inject("providersUrl")}?key=${KEY_SHAPED}` }),
    ]),
  );
  await record(await run([agent("key as a field", "quick", { [KEY_SHAPED]: true })]));
  await record(await run([agent("key as a type", "quick", { type: KEY_SHAPED })]));
  await record(await run([agent("key by name", "quick", { api_key: `\${${KEY_SHAPED}}` })]));
  const mcp = {
    url: `https://mcp.example.org/?token=${LITERAL_KEY}`,
    headers: { authorization: `Bearer ${LITERAL_KEY}` },
    env: { KEY: LITERAL_KEY },
  };
  const servers = { mcp_servers: [{ name: "web", type: "streamable-http", ...mcp }] };
  expect(
    await record(await run([agent("key in a tool server's headers", "quick", servers)])),
  ).toContain("config_invalid");
  await record(
    await askWith(owner.key, "/api/configs/validate", {
      method: "POST",
      body: { config: { agents: [agent("a", "quick", servers)] } },
    }),
  );
  const agentsWithKeys = [
    agent("key as a field", "quick", { [KEY_SHAPED]: true }),
    agent("key as a type", "quick", { type: KEY_SHAPED }),
  ];
  for (const config of [
    { agents: agentsWithKeys },
    { agents: [agent(KEY_SHAPED, "quick")], [KEY_SHAPED]: 1 },
  ])
    await record(
      await askWith(owner.key, "/api/configs/validate", { method: "POST", body: { config } }),
    );
  const yaml = `agents: [{id: a, ${KEY_SHAPED}: *${KEY_SHAPED}, backend: !!${KEY_SHAPED} {}}]`;
  await record(
    await askWith(owner.key, "/api/configs/validate", {
      method: "POST",
      body: { config_yaml: yaml },
    }),
  );
}

/** Sends requests about a session with secrets in paths, queries, headers and bodies. */
async function plantInRequests(id: string): Promise<void> {
  for (const path of ["", "/turns/1", "/turns/1/answers/agent1.1"])
    await record(await askWith(owner.key, `/api/sessions/${id}${path}`));
  await record(
    await ask(`/api/sessions/${id}`, { headers: { authorization: `Basic ${owner.key}` } }),
  );
  await record(await ask(`/api/sessions/${id}?api_key=${owner.key}`));
  await record(await askWith(owner.key, `/api/keys/${owner.key}`, { method: "DELETE" }));
  await record(await askWith(owner.key, `/api/sessions/${KEY_SHAPED}/cancel`, { method: "POST" }));

  const issued = await (
    await askWith(owner.key, `/api/sessions/${id}/tickets`, { method: "POST" })
  ).json<{ ticket: string }>();
  tickets.push(issued.ticket);
  for (const _ of [1, 2])
    await record(await ask(`/api/sessions/${id}/turns/1/events?ticket=${issued.ticket}`));
}

/** Creates a key with a secret as its scope. Then reads the lists of keys and audit rows. */
async function plantInKeys(): Promise<void> {
  await record(
    await askWith(owner.key, "/api/keys", {
      method: "POST",
      body: { name: "x", scopes: [KEY_SHAPED] },
    }),
  );
  await record(await askWith(owner.key, "/api/keys"));
  expect(await record(await askWith(owner.key, "/api/audit"))).toContain(
    "POST /api/sessions/[redacted]/cancel",
  );
}

/** Every row in the database that all tenants share. */
async function rowsOfService(): Promise<string> {
  const query =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'";
  const tables = await env.DB.prepare(query).all<{ name: string }>();
  const rows = await Promise.all(
    tables.results.map(({ name }) => env.DB.prepare(`SELECT * FROM "${name}"`).all()),
  );
  return JSON.stringify(rows.map(({ results }) => results));
}

/** Each canary that was found in the recorded texts, with the text around it. */
function canariesFound(): string[] {
  const canaries = [
    LITERAL_KEY,
    PASSWORD,
    KEY_SHAPED,
    ECHOED_KEY,
    IDEMPOTENCY_KEY,
    SECRET,
    owner.key,
    owner.key.slice(-43),
    ...tickets,
  ];
  return canaries.flatMap((canary) =>
    recordedTexts
      .filter((text) => text.includes(canary))
      .map(
        (text) => `${canary}: ${text.slice(Math.max(0, text.indexOf(canary) - 80)).slice(0, 200)}`,
      ),
  );
}

it("no log line, event, stream, answer, error or row contains a canary, except as a hash", {
  timeout: 60_000,
}, async () => {
  const started = await runOnce([
    agent("good", "quick"),
    agent("echoed", "keyless"),
    agent("down", "failing"),
  ]);
  const { session_id: id } = await started.clone().json<{ session_id: string }>();
  await record(started);
  const stream = await record(await askWith(owner.key, `/api/sessions/${id}/turns/1/events`));
  expect(stream).toContain("event: agent.failed");

  await plantInRequests(id);
  await plantInConfigs();
  await plantInSecrets();
  await plantInKeys();
  logError("a fault in the middle of", new Error(`bearer ${owner.key} with ${KEY_SHAPED}`));

  recordedTexts.push(await rowsOfService());
  expect(recordedTexts.at(-1)).toContain(owner.id);
  expect(recordedTexts.at(-1)).toContain("start_id");
  recordedTexts.push(await rowsOfSession(id));
  expect(recordedTexts.at(-1)).toContain("turn.completed");

  expect(canariesFound()).toEqual([]);
  expect(recordedTexts.filter((text) => text.startsWith("a fault in the middle of"))).toHaveLength(
    1,
  );
  expect((await keys.find(owner.id))?.secret_hash).toMatch(/^[0-9a-f]{64}$/);
});
