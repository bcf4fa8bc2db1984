import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, expect, inject, it, vi } from "vitest";
import { logError } from "../../src/redaction/log";
import { sessionName } from "../../src/tenancy/principal";
import { askWith, keys, makeKey, ask } from "./keyed-client";

/** I17: secrets in every place of a request, and everything that the service wrote afterwards. */
const written: string[] = [];
const spies = (["log", "info", "warn", "error", "debug"] as const).map((method) =>
  vi
    .spyOn(console, method)
    .mockImplementation((...parts: unknown[]) => void written.push(parts.map(String).join(" "))),
);
afterAll(() => spies.forEach((spy) => void spy.mockRestore()));

const LITERAL = "caller-canary-literal-7d1f";
const PASSWORD = "canary-password-55ab";
const SHAPED = "sk-canary-shaped-0123456789";
const IDEMPOTENCY = "canary-of-an-order-4711";
const SECRET = "tenant-canary-secret-90ae";
const ECHOED = "sk-canary-0123456789abcdef"; // the simulated provider repeats this key in its error
const owner = await makeKey("canaries", { scopes: "admin" });
const tickets: string[] = [];

const agent = (id: string, model: string, more: Record<string, unknown> = {}) => ({
  id,
  backend: {
    type: "chatcompletion",
    model,
    base_url: inject("providersUrl"),
    api_key: LITERAL,
    ...more,
  },
});
const run = (agents: unknown[]) =>
  askWith(owner.key, "/api/runs", {
    method: "POST",
    body: { question: "What is six times seven?", config: { agents } },
  });

/** A run with an idempotency key, which people may derive from private data. */
const runOnce = (agents: unknown[]) => {
  const headers = {
    authorization: `Bearer ${owner.key}`,
    "content-type": "application/json",
    "idempotency-key": IDEMPOTENCY,
  };
  const body = JSON.stringify({ question: "What is six times seven?", config: { agents } });
  return ask("/api/runs", { method: "POST", headers, body });
};

/** Every row of a session's own database. */
function rowsOfSession(id: string): Promise<string> {
  const stub = env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, "canaries", id)));
  return runInDurableObject(stub, (_, { storage: { sql } }) => {
    const query =
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'";
    const tables = sql.exec<{ name: string }>(query).toArray();
    return JSON.stringify(tables.map(({ name }) => sql.exec(`SELECT * FROM "${name}"`).toArray()));
  });
}

/** Reads a response to its end, with headers, and records it. */
async function keep(response: Response): Promise<string> {
  const text = `${JSON.stringify([...response.headers])}\n${await response.text()}`;
  written.push(text);
  return text;
}

/** A secret of the tenant, set correctly and in several wrong ways. */
async function plantInSecrets(): Promise<void> {
  const bindings = [{ origin: "https://api.example.com" }];
  const put = (name: string, body: unknown) =>
    askWith(owner.key, `/api/secrets/${name}`, { method: "PUT", body });
  expect(await keep(await put("PLANTED", { value: SECRET, bindings }))).toContain("PLANTED");
  await keep(await put("PLANTED", { value: SECRET, bindings: [{ origin: SECRET }] }));
  await keep(await put("PLANTED", { value: `${SECRET}\n`, bindings }));
  await keep(await put("PLANTED", { value: [SECRET], bindings, more: SECRET }));
  await keep(await put("PLANTED", SECRET));
  await keep(await put(SHAPED, { value: SECRET, bindings }));
  await keep(await askWith(owner.key, "/api/secrets"));
}

/** Refused configs, with secrets in every place where their authors may put one. */
async function plantInConfigs(): Promise<void> {
  const address = inject("providersUrl").replace("://", `://user:${PASSWORD}@`);
  await keep(await run([agent("userinfo", "quick", { base_url: address })]));
  await keep(
    await run([agent("query", "quick", { base_url: `${inject("providersUrl")}?key=${SHAPED}` })]),
  );
  await keep(await run([agent("key as a field", "quick", { [SHAPED]: true })]));
  await keep(await run([agent("key as a type", "quick", { type: SHAPED })]));
  await keep(await run([agent("key by name", "quick", { api_key: `\${${SHAPED}}` })]));
  const mcp = {
    url: `https://mcp.example.org/?token=${LITERAL}`,
    headers: { authorization: `Bearer ${LITERAL}` },
    env: { KEY: LITERAL },
  };
  const servers = { mcp_servers: [{ name: "web", type: "streamable-http", ...mcp }] };
  expect(
    await keep(await run([agent("key in a tool server's headers", "quick", servers)])),
  ).toContain("config_invalid");
  await keep(
    await askWith(owner.key, "/api/configs/validate", {
      method: "POST",
      body: { config: { agents: [agent("a", "quick", servers)] } },
    }),
  );
  const oddly = [
    agent("key as a field", "quick", { [SHAPED]: true }),
    agent("key as a type", "quick", { type: SHAPED }),
  ];
  for (const config of [{ agents: oddly }, { agents: [agent(SHAPED, "quick")], [SHAPED]: 1 }])
    await keep(
      await askWith(owner.key, "/api/configs/validate", { method: "POST", body: { config } }),
    );
  const yaml = `agents: [{id: a, ${SHAPED}: *${SHAPED}, backend: !!${SHAPED} {}}]`;
  await keep(
    await askWith(owner.key, "/api/configs/validate", {
      method: "POST",
      body: { config_yaml: yaml },
    }),
  );
}

/** Requests about a session, with secrets in paths, queries, headers and bodies. */
async function plantInRequests(id: string): Promise<void> {
  for (const path of ["", "/turns/1", "/turns/1/answers/agent1.1"])
    await keep(await askWith(owner.key, `/api/sessions/${id}${path}`));
  await keep(
    await ask(`/api/sessions/${id}`, { headers: { authorization: `Basic ${owner.key}` } }),
  );
  await keep(await ask(`/api/sessions/${id}?api_key=${owner.key}`));
  await keep(await askWith(owner.key, `/api/keys/${owner.key}`, { method: "DELETE" }));
  await keep(await askWith(owner.key, `/api/sessions/${SHAPED}/cancel`, { method: "POST" }));

  const issued = await (
    await askWith(owner.key, `/api/sessions/${id}/tickets`, { method: "POST" })
  ).json<{ ticket: string }>();
  tickets.push(issued.ticket);
  for (const _ of [1, 2])
    await keep(await ask(`/api/sessions/${id}/turns/1/events?ticket=${issued.ticket}`));
}

/** A request for a key with a secret as its scope, and the lists of keys and of the audit. */
async function plantInKeys(): Promise<void> {
  await keep(
    await askWith(owner.key, "/api/keys", {
      method: "POST",
      body: { name: "x", scopes: [SHAPED] },
    }),
  );
  await keep(await askWith(owner.key, "/api/keys"));
  expect(await keep(await askWith(owner.key, "/api/audit"))).toContain(
    "POST /api/sessions/[redacted]/cancel",
  );
}

/** Every row of the database that all tenants share. */
async function rowsOfService(): Promise<string> {
  const query =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'";
  const tables = await env.DB.prepare(query).all<{ name: string }>();
  const rows = await Promise.all(
    tables.results.map(({ name }) => env.DB.prepare(`SELECT * FROM "${name}"`).all()),
  );
  return JSON.stringify(rows.map(({ results }) => results));
}

/** Each canary in what was written, with the text around it. */
function canariesFound(): string[] {
  const canaries = [
    LITERAL,
    PASSWORD,
    SHAPED,
    ECHOED,
    IDEMPOTENCY,
    SECRET,
    owner.key,
    owner.key.slice(-43),
    ...tickets,
  ];
  return canaries.flatMap((canary) =>
    written
      .filter((text) => text.includes(canary))
      .map(
        (text) => `${canary}: ${text.slice(Math.max(0, text.indexOf(canary) - 80)).slice(0, 200)}`,
      ),
  );
}

it("no canary is in a log line, event, stream, answer, error or row, except as a hash", {
  timeout: 60_000,
}, async () => {
  const started = await runOnce([
    agent("good", "quick"),
    agent("echoed", "keyless"),
    agent("down", "failing"),
  ]);
  const { session_id: id } = await started.clone().json<{ session_id: string }>();
  await keep(started);
  const stream = await keep(await askWith(owner.key, `/api/sessions/${id}/turns/1/events`));
  expect(stream).toContain("event: agent.failed");

  await plantInRequests(id);
  await plantInConfigs();
  await plantInSecrets();
  await plantInKeys();
  logError("a fault in the middle of", new Error(`bearer ${owner.key} with ${SHAPED}`));

  written.push(await rowsOfService());
  expect(written.at(-1)).toContain(owner.id);
  expect(written.at(-1)).toContain("start_id");
  written.push(await rowsOfSession(id));
  expect(written.at(-1)).toContain("turn.completed");

  expect(canariesFound()).toEqual([]);
  expect(written.filter((text) => text.startsWith("a fault in the middle of"))).toHaveLength(1);
  expect((await keys.find(owner.id))?.secret_hash).toMatch(/^[0-9a-f]{64}$/);
});
