import { describe, expect, it } from "vitest";
import type { TurnResponse } from "../../../src/protocol/api";
import {
  ask,
  cancel,
  queue,
  question,
  resume,
  startSession,
  turnsOf,
  untilTurns,
} from "./queue/queue-client";
import { follow, post, request, type Run, start, teamOf, typesOf } from "./session-client";

/** Summaries, windows and refusals for length of sessions with several teams and with a queue. */

/** Longer than the history of a model of unknown size may be. */
const LONG = " and so on".repeat(16_000);
/** Fits no window of a model of unknown size. */
const TOO_LONG = "長".repeat(200_000);

const compact = ({ session_id }: Run) => post(`/api/sessions/${session_id}/compact`, {});
const turnOf = async ({ session_id }: Run, turn: number): Promise<TurnResponse> =>
  (await request(`/api/sessions/${session_id}/turns/${turn}`)).json();
const codeOf = async (response: Response) => [
  response.status,
  (await response.json<{ code: string }>()).code,
];

/** Starts a turn of an idle session, and waits for its end. */
async function play(run: Run, asked: string, more: object = {}): Promise<Run> {
  const response = await ask(run, asked, more);
  if (response.status !== 202) throw new Error(await response.text());
  const next = await response.json<Run>();
  await follow(next);
  return next;
}

async function playCompact(run: Run): Promise<Run> {
  const response = await compact(run);
  if (response.status !== 202) throw new Error(await response.text());
  const next = await response.json<Run>();
  await follow(next);
  return next;
}

/** A team of one agent with this id. */
function soloist(id: string): object {
  const team = teamOf(["obedient"]);
  const [agent] = team["agents"] as object[];
  return { agents: [{ ...agent, id }] };
}

describe("a turn that only summarises", () => {
  it("is written by the team of the head", async () => {
    const run = await start(teamOf(["obedient"]), { question: "Turn 1" });
    await follow(run);
    await play(run, "Turn 2", { config: soloist("critic") });
    await playCompact(run);
    expect(await turnOf(run, 3)).toMatchObject({
      ...{ kind: "compact", status: "completed", parent_turn: 2 },
      ...{ winner: "critic", history: { written_by: "critic" } },
    });
    await play(run, "Turn 4");
    await play(run, "Turn 5", { parent_turn: 1 });
    const turns = await turnsOf(run);
    expect(turns.slice(2)).toMatchObject([
      { kind: "compact", team: [{ agent: "critic" }] },
      { team: [{ agent: "critic" }], history: { summary_through: 2, written_by: null } },
      { team: [{ agent: "a0" }], status: "completed" },
    ]);
    expect(turns[4]?.history).toBeUndefined();
  });

  it("is refused while a turn runs, and not while the queue is held", async () => {
    const run = await startSession("stalled");
    await queue(run, question(2));
    expect(await codeOf(await compact(run))).toEqual([409, "turn_running"]);
    await cancel(run);
    expect((await compact(run)).status).toBe(202);
    await untilTurns(run, 2);
    await resume(run);
    await untilTurns(run, 3);
    expect((await turnsOf(run)).map(({ kind, parent_turn }) => [kind, parent_turn])).toEqual([
      ...[
        [undefined, null],
        ["compact", 1],
        [undefined, 1],
      ],
    ]);
  });

  it("is waited for by a question that is asked meanwhile", async () => {
    const run = await startSession("completed");
    await untilTurns(run, 1);
    expect((await compact(run)).status).toBe(202);
    expect((await ask(run, question(3))).status).toBe(202);
    await untilTurns(run, 3);
    expect(await turnOf(run, 3)).toMatchObject({
      ...{ parent_turn: 1, status: "completed", history: { summary_through: 1, written_by: null } },
    });
  });

  it("cannot be repeated, and no queued question can follow it", async () => {
    const run = await startSession("completed");
    await untilTurns(run, 1);
    await playCompact(run);
    const repeated = await post(`/api/sessions/${run.session_id}/turns`, { repeat_turn: 2 });
    expect(await codeOf(repeated)).toEqual([404, "turn_not_found"]);
    await ask(run, question(3, "stalled"), {});
    const more = { on_busy: "queue", parent_turn: 2 };
    expect(await codeOf(await ask(run, question(4), more))).toEqual([404, "turn_not_found"]);
    await cancel(run);
  });
});

describe("a queued question that fits no window", () => {
  it("fails with the code and the reason, and the turn after it runs", async () => {
    const run = await startSession("stalled");
    await queue(run, TOO_LONG);
    await queue(run, question(3));
    await cancel(run);
    await resume(run);
    await untilTurns(run, 2);
    await resume(run);
    await untilTurns(run, 3);
    const { events } = await follow({ ...run, turn: 2 });
    expect(typesOf(events)).toEqual(["turn.started", "turn.failed"]);
    expect(events.at(-1)).toMatchObject({
      ...{ code: "question_too_long", cost_usd: 0 },
      message: expect.stringContaining("Ask again with a shorter question"),
    });
    expect(await turnOf(run, 3)).toMatchObject({ status: "completed", parent_turn: 2 });
  });
});

describe("the space for earlier turns", () => {
  it("is that of the agents of the turn: a larger model alone reads all in full", async () => {
    const run = await start(teamOf(["obedient", "gemini-2.5-flash"]), {
      question: `Turn 1${LONG}`,
    });
    await follow(run);
    await play(run, "Turn 2", { overrides: { agents: ["a1"] } });
    const second = await turnOf(run, 2);
    expect(second.status).toBe("completed");
    expect(second.history).toBeUndefined();
    const third = await follow(await play(run, "Turn 3"));
    expect(typesOf(third.events)).toContain("history.summarised");
    expect(await turnOf(run, 3)).toMatchObject({ status: "completed" });
  });

  it("is that of the other team which a request brings", async () => {
    const run = await start(teamOf(["gemini-2.5-flash"]), { question: `Turn 1${LONG}` });
    await follow(run);
    await play(run, "Turn 2", { config: soloist("critic") });
    expect(await turnOf(run, 2)).toMatchObject({
      ...{ status: "completed", history: { summary_through: 1, written_by: "critic" } },
    });
  });
});
