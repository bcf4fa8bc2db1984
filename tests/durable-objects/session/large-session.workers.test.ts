import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { STREAM } from "../../../durable-objects/shared/object-limits";
import type { SessionStatus } from "../../../src/protocol/api";
import { isTerminal, type WireEvent } from "../../../src/protocol/events";
import { LOCAL_TENANT, sessionName } from "../../../src/tenancy/principal";
import { misfolded, misnumbered } from "../../e2e/support/verdict";
import { follow, parse, post, request, type Run, start, teamOf, typesOf } from "./session-client";

/**
 * Sessions with 100,000 events. The time of a request must depend only on the size of its response.
 */
const EVENTS = 100_000;
/**
 * Time limit of one request. The slowest request is a turn that follows 2,000 earlier turns; it
 * takes one second on a busy machine.
 */
const REQUEST_LIMIT_MS = 10_000;

const stubOf = ({ session_id }: Run) =>
  env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, session_id)));
const sqlOf = <T>(run: Run, work: (sql: SqlStorage) => T): Promise<T> =>
  runInDurableObject(stubOf(run), (_, { storage }) =>
    storage.transactionSync(() => work(storage.sql)),
  );
const getJson = async <T>(path: string): Promise<T> =>
  (await request(path, { headers: { accept: "application/json" } })).json<T>();
const numbers = (events: readonly WireEvent[]) =>
  events.map(({ sequence_number }) => sequence_number);

/** Fails if the work takes longer than `REQUEST_LIMIT_MS`. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work;
  expect(performance.now() - startedAt).toBeLessThan(REQUEST_LIMIT_MS);
  return result;
}

const EVENT_COPY = `INSERT INTO events SELECT seq + ?1, turn + ?2, attempt, agent, type, at,
  CASE type WHEN 'turn.started' THEN json_set(body, '$.parent_turn', turn + ?2 - 1) ELSE body END FROM events WHERE seq > 1 AND turn <= ?3`;
const DELTA_COPY =
  "INSERT INTO deltas SELECT seq + ?1, turn + ?2, at, body FROM deltas WHERE turn <= ?3";
const TURN_COPY = `INSERT INTO turns SELECT turn + ?2, turn + ?2 - 1, first_seq + ?1, last_seq + ?1,
  json_set(summary, '$.number', turn + ?2, '$.parentTurn', turn + ?2 - 1) FROM turns WHERE turn <= ?3`;

/**
 * Copies the session's first turn until the log has `EVENTS` events. Each copy follows the turn
 * before it. The number of turns doubles with each step.
 */
function copyFirstTurn(sql: SqlStorage): { turns: number; head: number } {
  const { rows } = sql.exec<{ rows: number }>("SELECT max(seq) - 1 AS rows FROM events").one();
  const turns = Math.ceil(EVENTS / rows);
  for (let made = 1; made < turns; made *= 2) {
    for (const copy of [EVENT_COPY, DELTA_COPY, TURN_COPY])
      sql.exec(copy, made * rows, made, Math.min(made, turns - made));
  }
  return { turns, head: 1 + turns * rows };
}

describe("a session of 100,000 events over thousands of turns", () => {
  let run: Run;
  let path: string;
  let turns: number;
  let head: number;

  beforeAll(async () => {
    run = await start(teamOf(["improver", "plain"]));
    path = `/api/sessions/${run.session_id}`;
    await follow(run);
    ({ turns, head } = await sqlOf(run, copyFirstTurn));
    await abortAllDurableObjects();
  }, 30_000);

  it("returns the last events quickly to a reader that reconnects, from a reloaded object", async () => {
    const page = await inTime(
      getJson<{ data: WireEvent[]; has_more: boolean }>(`${path}/events?after=${head - 3}`),
    );
    expect([numbers(page.data), page.has_more]).toEqual([[head - 2, head - 1, head], false]);
    const { events } = await inTime(
      follow({ ...run, turn: turns }, { "last-event-id": `${head - 2}` }),
    );
    expect([numbers(events), typesOf(events).at(-1)]).toEqual([[head - 1, head], "turn.completed"]);
  });

  it("returns pages of a bounded size from any position", async () => {
    const response = await inTime(
      request(`${path}/events?after=${Math.floor(head / 2)}&limit=1000`, {
        headers: { accept: "application/json" },
      }),
    );
    const text = await response.text();
    const { data, has_more }: { data: WireEvent[]; has_more: boolean } = JSON.parse(text);
    expect([data.length > 100, has_more, text.length < 2 * STREAM.pageBytes]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("can be read completely by a new reader, and its status agrees with its log", async () => {
    const log = await wholeLog(path, head);
    expect([log.length, misnumbered(log)]).toEqual([head, []]);
    const status = await inTime(getJson<SessionStatus>(path));
    expect([status.meta.last_sequence, status.turns.length]).toEqual([head, turns]);
    expect(misfolded(log, status)).toEqual([]);
  });

  it("runs a turn that follows the first turn, and a turn that follows all turns", async () => {
    const runTurnAfter = async (parent: number) => {
      const response = await post(`${path}/turns`, {
        question: "And eight times seven?",
        parent_turn: parent,
      });
      const { turn } = await response.json<{ turn: number }>();
      return (await follow({ ...run, turn })).events.at(-1);
    };
    expect(await inTime(runTurnAfter(1))).toMatchObject({
      type: "turn.completed",
      turn: turns + 1,
    });
    expect(await inTime(runTurnAfter(turns))).toMatchObject({
      type: "turn.completed",
      turn: turns + 2,
    });
  });
});

/** Every event of the session's stream up to the number `head`. */
async function wholeLog(path: string, head: number): Promise<WireEvent[]> {
  const log: WireEvent[] = [];
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of (await request(`${path}/events`)).body ?? []) {
    const text = rest + decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf("\n\n") + 2;
    rest = end > 1 ? text.slice(end) : text;
    if (end > 1) log.push(...parse(text.slice(0, end)));
    if (log.length >= head) break;
  }
  return log;
}

it("an interrupted turn with 100,000 deltas is loaded quickly, continues, and ends once", async () => {
  const run = await start(teamOf(["hanging", "unhurried"]));
  const path = `/api/sessions/${run.session_id}`;
  const deltaRows = () =>
    sqlOf(run, (sql) => sql.exec<{ body: string }>("SELECT body FROM deltas").toArray());
  await vi.waitFor(async () => expect((await deltaRows()).length).toBeGreaterThan(0), 10_000);
  const [{ body } = { body: "" }] = await deltaRows();
  const { items }: { items: { offset: number; text: string }[] } = JSON.parse(body);
  const head = await sqlOf(run, (sql) => {
    const query =
      "SELECT max((SELECT max(seq) FROM events), (SELECT max(seq) FROM deltas)) AS head";
    const { head } = sql.exec<{ head: number }>(query).one();
    for (let nth = 1; nth <= EVENTS; nth += 1) {
      const delta = {
        items: items.map((item) => ({
          ...item,
          offset: item.offset + nth * 10,
          text: "ten letter",
        })),
      };
      sql.exec(
        "INSERT INTO deltas (seq, turn, at, body) VALUES (?, 1, ?, ?)",
        head + nth,
        Date.now(),
        JSON.stringify(delta),
      );
    }
    return head + EVENTS;
  });
  await abortAllDurableObjects();
  expect(await inTime(getJson(path))).toMatchObject({ turns: [{ status: "running" }] });
  await inTime(post(`${path}/cancel`));
  const { events } = await inTime(follow(run, { "last-event-id": `${head}` }));
  expect(numbers(events)[0]).toBe(head + 1);
  expect(typesOf(events)).toEqual(expect.arrayContaining(["call.started"]));
  expect(typesOf(events).filter(isTerminal)).toEqual(["turn.cancelled"]);
});
