import { abortAllDurableObjects } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { post, request, type Run, teamOf } from "../session-client";
import {
  ask,
  cancel,
  queue,
  queued,
  queueOf,
  question,
  remove,
  resume,
  startSession,
  startsOf,
  statusesOf,
  turnsOf,
  untilHeld,
  untilTurns,
} from "./queue-client";

const codeOf = async (response: Response) => [
  response.status,
  (await response.json<{ code: string }>()).code,
];

/** A session whose running turn ends only when it is cancelled, with this number of requests. */
async function busySession(count: number): Promise<{ run: Run; ids: string[] }> {
  const run = await startSession("stalled");
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth += 1) ids.push(await queue(run, question(nth + 2)));
  return { run, ids };
}

describe("a busy session", () => {
  it("refuses a question that does not say what to do", async () => {
    const { run } = await busySession(0);
    expect(await codeOf(await ask(run, "Why?", {}))).toEqual([409, "turn_running"]);
    expect(await codeOf(await ask(run, "Why?", { on_busy: "reject" }))).toEqual([
      ...[409, "turn_running"],
    ]);
    await cancel(run);
  });

  it("queues a question, and says where", async () => {
    const { run } = await busySession(1);
    const response = await ask(run, question(3), { on_busy: "queue", parent_turn: 1 });
    expect(response.status).toBe(202);
    const body = await response.json<{ queued: { id: string } }>();
    const { id } = body.queued;
    const path = `/api/sessions/${run.session_id}`;
    expect(body).toEqual({
      ...{ session_id: run.session_id, status: "queued", queued: { id, position: 2 } },
      links: { session: path, queue: `${path}/queue`, queued: `${path}/queue/${id}` },
    });
    expect(await queued(run, id)).toEqual({
      ...{ session_id: run.session_id, id, position: 2, turn: null },
    });
    expect(await queueOf(run)).toMatchObject({
      held: null,
      waiting: { code: "turn_running" },
      data: [
        { position: 1, parent_turn: null },
        { id, position: 2, parent_turn: 1, interrupts: false, attachments: 0 },
      ],
    });
    await cancel(run);
  });

  it("queues a repeated request once, and answers it with the turn once that exists", async () => {
    const { run } = await busySession(0);
    const key = { "idempotency-key": crypto.randomUUID() };
    const repeat = async () =>
      (await ask(run, question(2), { on_busy: "queue" }, key)).json<Record<string, unknown>>();
    const first = await repeat();
    expect(await repeat()).toEqual(first);
    expect((await queueOf(run)).data).toHaveLength(1);
    await cancel(run);
    await resume(run);
    await untilTurns(run, 2);
    expect(await repeat()).toMatchObject({ turn: 2 });
    expect(await statusesOf(run)).toEqual(["cancelled", "completed"]);
  });

  it("warns about the team that a question brings, as if the question started at once", async () => {
    const { run } = await busySession(0);
    const config = { ...teamOf(["chronicler"]), ui: { display_type: "rich_terminal" } };
    const overrides = { models: { a0: "solid" } };
    const warningsOf = async (response: Response) =>
      (await response.json<{ warnings?: { code: string; pointer: string }[] }>()).warnings;
    const waits = { on_busy: "queue", config };
    const first = await warningsOf(await ask(run, question(2), waits));
    const second = await warningsOf(await ask(run, question(3), { ...waits, overrides }));
    expect(first?.map(({ code }) => code)).toContain("no_effect");
    expect(second?.at(-1)).toMatchObject({
      code: "price_unknown",
      pointer: "/overrides/models/a0",
    });
    expect(await warningsOf(await ask(run, question(4)))).toBeUndefined();
    await cancel(run);
    const direct = { config, overrides };
    expect(await warningsOf(await ask(run, question(5), direct))).toEqual(second);
  });

  it("starts a question at once if it is not busy", async () => {
    const run = await startSession("completed");
    await untilTurns(run, 1);
    expect(await (await ask(run, question(2))).json()).toMatchObject({ turn: 2 });
    await untilTurns(run, 2);
  });

  it("queues ten questions at most, and an interrupt that finds no place cancels nothing", async () => {
    const { run } = await busySession(10);
    for (const on_busy of ["queue", "interrupt"])
      expect(await codeOf(await ask(run, "More?", { on_busy }))).toEqual([409, "queue_full"]);
    expect(await statusesOf(run)).toEqual(["running"]);
    await cancel(run);
  });

  it("refuses at once what can never start", async () => {
    const { run } = await busySession(0);
    const more = { on_busy: "queue", parent_turn: 9 };
    expect(await codeOf(await ask(run, "Why?", more))).toEqual([404, "turn_not_found"]);
    const file = { type: "file", sha256: "a".repeat(64) };
    const parts = [{ type: "text", text: "Why?" }, file];
    expect(await codeOf(await ask(run, parts))).toEqual([422, "attachment_not_found"]);
    await cancel(run);
  });
});

describe("a queue", () => {
  it("survives a restart with ten questions, and starts each once, in order", async () => {
    const { run, ids } = await busySession(10);
    await abortAllDurableObjects();
    expect((await queueOf(run)).data.map(({ id }) => id)).toEqual(ids);
    await cancel(run);
    await resume(run);
    for (let nth = 0; nth < 5; nth += 1) {
      await new Promise((resolve) => setTimeout(resolve, 120));
      await abortAllDurableObjects();
    }
    await untilTurns(run, 11);
    expect(await startsOf(run)).toEqual(ids.map((id, nth) => [id, nth + 2]));
    expect(await statusesOf(run)).toEqual(["cancelled", ...ids.map(() => "completed")]);
    for (const [nth, id] of ids.entries())
      expect(await queued(run, id)).toMatchObject({ position: null, turn: nth + 2 });
  });

  it("goes on after a completed turn: each turn follows the one before", async () => {
    const run = await startSession("completed");
    const asked = [2, 3, 4].map((id) => ask(run, question(id)));
    for (const response of await Promise.all(asked)) expect(response.status).toBe(202);
    await untilTurns(run, 4);
    expect((await turnsOf(run)).map(({ parent_turn }) => parent_turn)).toEqual([null, 1, 2, 3]);
  });

  it("is held after a cancelled turn until it is resumed, and a new question does not wait", async () => {
    const { run } = await busySession(2);
    await cancel(run);
    expect(await queueOf(run)).toMatchObject({ held: { code: "cancelled" } });
    expect(await (await ask(run, question(9))).json()).toMatchObject({ turn: 2 });
    await untilTurns(run, 2);
    expect(await queueOf(run)).toMatchObject({ held: { code: "cancelled" } });
    expect(await (await resume(run)).json()).toMatchObject({ held: null });
    await untilTurns(run, 4);
    expect((await queueOf(run)).data).toEqual([]);
  });

  it("is held after a failed turn: with a bad provider key, the others are not failed", async () => {
    const run = await startSession("stalled");
    await queue(run, question(2, "failed"));
    const others = [await queue(run, question(3)), await queue(run, question(4))];
    await cancel(run);
    await resume(run);
    await untilHeld(run);
    expect(await statusesOf(run)).toEqual(["cancelled", "failed"]);
    expect(await queueOf(run)).toMatchObject({
      held: { code: "turn_failed" },
      data: others.map((id) => ({ id })),
    });
    await abortAllDurableObjects();
    expect(await queueOf(run)).toMatchObject({ held: { code: "turn_failed" } });
    await resume(run);
    await untilTurns(run, 4);
    expect(await statusesOf(run)).toEqual(["cancelled", "failed", "completed", "completed"]);
  });

  it("loses a removed request; the others move forward", async () => {
    const { run, ids } = await busySession(3);
    expect((await remove(run, ids[1] ?? "")).status).toBe(204);
    expect((await queueOf(run)).data.map(({ id, position }) => [id, position])).toEqual([
      [ids[0], 1],
      [ids[2], 2],
    ]);
    expect(await codeOf(await remove(run, ids[1] ?? ""))).toEqual([404, "queued_not_found"]);
    await cancel(run);
    await resume(run);
    await untilTurns(run, 3);
    expect(await codeOf(await remove(run, ids[0] ?? ""))).toEqual([409, "queued_turn_started"]);
  });

  it("is no longer held once its last request was removed", async () => {
    const { run, ids } = await busySession(1);
    await cancel(run);
    await remove(run, ids[0] ?? "");
    expect(await queueOf(run)).toMatchObject({ held: null, waiting: null, data: [] });
  });

  it("is part of the session's status while it is not empty", async () => {
    const { run } = await busySession(1);
    await cancel(run);
    const path = `/api/sessions/${run.session_id}`;
    const status = async () => (await request(path)).json<{ queue?: object }>();
    expect((await status()).queue).toMatchObject({
      held: { code: "cancelled" },
      data: [{ position: 1 }],
    });
    await resume(run);
    await untilTurns(run, 2);
    expect((await status()).queue).toBeUndefined();
  });

  it("gives its next turn the head, unless the request names a parent", async () => {
    const run = await startSession("completed");
    await untilTurns(run, 1);
    await ask(run, question(2, "stalled"), {});
    await queue(run, question(3));
    await queue(run, question(4), { parent_turn: 2 });
    await cancel(run);
    await post(`/api/sessions/${run.session_id}/head`, { turn: 1 });
    await resume(run);
    await untilTurns(run, 4);
    expect((await turnsOf(run)).map(({ parent_turn }) => parent_turn)).toEqual([null, 1, 1, 2]);
  });
});

describe("an interrupt", () => {
  it("cancels the running turn, runs before the queue, and does not hold it", async () => {
    const { run, ids } = await busySession(2);
    const first = await queue(run, question(9), { on_busy: "interrupt" });
    await untilTurns(run, 4);
    expect((await startsOf(run)).map(([id]) => id)).toEqual([first, ...ids]);
    expect(await statusesOf(run)).toEqual(["cancelled", "completed", "completed", "completed"]);
  });

  it("runs although the queue is held, which then stays held", async () => {
    const { run } = await busySession(1);
    await cancel(run);
    await ask(run, question(3, "stalled"), {});
    await queue(run, question(4), { on_busy: "interrupt" });
    await untilTurns(run, 3);
    expect(await statusesOf(run)).toEqual(["cancelled", "cancelled", "completed"]);
    expect(await queueOf(run)).toMatchObject({ held: { code: "cancelled" }, data: [{}] });
  });

  it("survives a restart between the cancelled turn and its own", async () => {
    const { run, ids } = await busySession(1);
    const first = await queue(run, question(9), { on_busy: "interrupt" });
    await abortAllDurableObjects();
    await untilTurns(run, 3);
    expect((await startsOf(run)).map(([id]) => id)).toEqual([first, ...ids]);
  });
});
