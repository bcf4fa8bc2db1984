import {
  abortAllDurableObjects,
  createExecutionContext,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, inject, it, vi } from "vitest";
import { sessionName } from "../../../../src/tenancy/principal";
import { parseSealingKeys, seal } from "../../../../src/tenancy/sealing";
import worker from "../../../../src/worker";
import { entryOf } from "../../../builders/sealing-keys";
import { isDone, runOf, stubOf as stubOfRun, until } from "../../../evals/eval-client";
import { follow, parse, post, type Run, start, teamOf } from "../session-client";

/**
 * The key of the caller in these tests: it must be sealed in storage, and only calls may send it.
 */
const SECRET = "caller-key";
const fetchSpy = vi.spyOn(globalThis, "fetch");
beforeEach(() => void fetchSpy.mockClear());

const stubOf = ({ session_id }: Run) =>
  env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, "local", session_id)));

/** Every row of an object, as text. */
function rowsIn({ storage: { sql } }: DurableObjectState): string {
  const query =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'";
  const tables = sql.exec<{ name: string }>(query).toArray();
  return JSON.stringify(tables.map(({ name }) => sql.exec(`SELECT * FROM "${name}"`).toArray()));
}
const rowsOf = (run: Run): Promise<string> =>
  runInDurableObject(stubOf(run), (_, state) => rowsIn(state));

/** The versions of the sealing keys that sealed the keys in these rows. */
const versionsIn = (rows: string): string[] =>
  [...rows.matchAll(/from\\+":\\+"sealed\\+",\\+"value\\+":\\+"(\d+):/g)].map(
    ([, version = ""]) => version,
  );

/** Replaces the stored key of the session's only agent, and restarts the session from storage. */
async function replaceKey(run: Run, key: { from: string; value: string }): Promise<void> {
  await runInDurableObject(stubOf(run), (_, { storage: { sql } }) => {
    sql.exec(
      "UPDATE meta SET value = json_set(value, '$.agents[0].backend.key', json(?)) WHERE key = 'team'",
      JSON.stringify(key),
    );
  });
  await abortAllDurableObjects();
}

/** The caller's key, sealed for this session with a version of the sealing keys. */
function sealedBy(version: number, { session_id }: Run): { from: string; value: string } {
  const parsed = parseSealingKeys(entryOf(version));
  if (!parsed.ok) throw new Error(parsed.problem);
  const binding = {
    tenant: "local",
    session: session_id,
    agent: "a0",
    origin: new URL(inject("providersUrl")).origin,
  };
  return {
    from: "sealed",
    value: seal(parsed.keys, SECRET, binding, crypto.getRandomValues(new Uint8Array(12))),
  };
}

/** Runs the session's second turn. Returns its events and the keys that its calls sent. */
async function runNextTurn(run: Run) {
  fetchSpy.mockClear();
  const response = await post(`/api/sessions/${run.session_id}/turns`, {
    question: "And eight times seven?",
  });
  expect(response.status).toBe(202);
  const { text } = await follow({ ...run, turn: 2 });
  return { text, events: parse(text), keys: keysSent() };
}

const keysSent = (): (string | null)[] => [
  ...new Set(
    // A relay passes the whole request.
    fetchSpy.mock.calls.map(([request]) =>
      request instanceof Request ? request.headers.get("authorization") : null,
    ),
  ),
];

describe("a caller's key", () => {
  it("is sent with calls, and is stored in the session only in sealed form", async () => {
    const run = await start(teamOf(["quick"]));
    await follow(run);
    const rows = await rowsOf(run);
    expect([keysSent(), rows.includes(SECRET), versionsIn(rows)]).toEqual([
      [`Bearer ${SECRET}`],
      false,
      ["2"],
    ]);
  });

  it("is stored in an evaluation run only in sealed form, and the cases of the run start", async () => {
    const run = runOf("sealed-keys", ["solid"], {
      team: { agents: [{ id: "a", backend: { type: "vllm", api_key: SECRET } }] },
    });
    await stubOfRun(run).start(run);
    expect(JSON.stringify(run)).toContain(SECRET);
    const { passed } = await until(run, isDone);
    const rows = await runInDurableObject(stubOfRun(run), (_, state) => rowsIn(state));
    expect([passed, rows.includes(SECRET), versionsIn(rows)]).toEqual([3, false, ["2"]]);
  });

  it.each([
    { name: "was sealed by an older version", keyOf: (run: Run) => sealedBy(1, run) },
    {
      name: "was stored as plain text by an older release",
      keyOf: () => ({ from: "literal", value: SECRET }),
    },
  ])(
    "that $name is sealed again when the session is loaded, and calls still send it",
    async ({ keyOf }) => {
      const run = await start(teamOf(["quick"]));
      await follow(run);
      await replaceKey(run, keyOf(run));
      const { events, keys } = await runNextTurn(run);
      const rows = await rowsOf(run);
      expect([events.at(-1)?.type, keys]).toEqual(["turn.completed", [`Bearer ${SECRET}`]]);
      expect([rows.includes(SECRET), versionsIn(rows)]).toEqual([false, ["2"]]);
    },
  );

  it.each([
    {
      name: "a removed version",
      keyOf: (run: Run) => sealedBy(9, run),
      says: "version 9 of SEALING_KEYS",
    },
    {
      name: "another session",
      keyOf: (run: Run) => sealedBy(2, { ...run, session_id: "session_other00" }),
      says: "cannot be opened",
    },
  ])(
    "that was sealed with the key of $name makes the call fail with a reason before it is sent",
    async ({ keyOf, says }) => {
      const run = await start(teamOf(["quick"]));
      await follow(run);
      await replaceKey(run, keyOf(run));
      const { events, keys } = await runNextTurn(run);
      expect(events.find(({ type }) => type === "call.failed")).toMatchObject({
        class: "bad_credentials",
        code: "key_unreadable",
        message: expect.stringContaining(says),
      });
      expect([events.at(-1)?.type, keys]).toEqual(["turn.failed", []]);
    },
  );

  it("is refused with a remedy if no sealing key is set, and nothing is stored or sent", async () => {
    const counts = () =>
      Promise.all(
        ["sessions", "start_claims"].map((table) =>
          env.DB.prepare(`SELECT count(*) FROM ${table}`).first(),
        ),
      );
    const before = await counts();
    const body = JSON.stringify({
      question: "What is six times seven?",
      config: teamOf(["quick"]),
    });
    const headers = { "content-type": "application/json", "idempotency-key": "sealed" };
    const request = new Request<unknown, IncomingRequestCfProperties>(
      "http://127.0.0.1:8787/api/runs",
      {
        method: "POST",
        headers,
        body,
      },
    );
    const response = await worker.fetch(
      request,
      { ...env, SEALING_KEYS: "" },
      createExecutionContext(),
    );
    const text = await response.text();
    expect([response.status, JSON.parse(text)]).toEqual([
      422,
      expect.objectContaining({
        code: "config_invalid",
        errors: [
          expect.objectContaining({ code: "key_not_kept", pointer: "/agents/0/backend/api_key" }),
        ],
      }),
    ]);
    expect(text).toContain("npx wrangler secret put SEALING_KEYS");
    expect(text).not.toContain(SECRET);
    expect([await counts(), fetchSpy.mock.calls]).toEqual([before, []]);
  });
});
