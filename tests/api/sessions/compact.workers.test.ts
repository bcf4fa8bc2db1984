import { abortAllDurableObjects } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { SessionStatus, TurnResponse } from "../../../src/protocol/api";
import type { TurnList } from "../../../src/protocol/api/listings";
import {
  follow,
  post,
  request,
  type Run,
  start,
  teamOf,
  typesOf,
} from "../../durable-objects/session/session-client";

/** Longer than the history of a model of unknown size may be. */
const LONG = " and so on".repeat(16_000);

async function session(turns: number, padding = ""): Promise<Run> {
  const run = await start(teamOf(["obedient"]), { question: `Turn 1${padding}` });
  await follow(run);
  for (let turn = 2; turn <= turns; turn += 1) await ask(run, `Turn ${turn}${padding}`);
  return run;
}

async function ask({ session_id }: Run, question: string, more: object = {}): Promise<Run> {
  const response = await post(`/api/sessions/${session_id}/turns`, { question, ...more });
  if (response.status !== 202) throw new Error(await response.text());
  const run = await response.json<Run>();
  await follow(run);
  return run;
}

const compact = ({ session_id }: Run, body: object = {}, headers = {}) =>
  post(`/api/sessions/${session_id}/compact`, body, headers);
const turnOf = async ({ session_id }: Run, turn: number): Promise<TurnResponse> =>
  (await request(`/api/sessions/${session_id}/turns/${turn}`)).json();
const treeOf = async ({ session_id }: Run): Promise<TurnList> =>
  (await request(`/api/sessions/${session_id}/turns`)).json();
const problemOf = async (response: Response) => {
  const { code } = await response.json<{ code: string }>();
  return [response.status, code];
};

describe("a turn that only summarises", () => {
  it("writes a summary of all turns, and leaves the head where it is", async () => {
    const run = await session(2);
    const response = await compact(run, { budget: { max_tokens: 100_000 } });
    expect(response.status).toBe(202);
    const compacted = await response.json<Run>();
    expect(typesOf((await follow(compacted)).events)).toEqual([
      "turn.started",
      "attempt.started",
      "round.started",
      "call.started",
      "call.completed",
      "history.summarised",
      "turn.completed",
    ]);
    const turn = await turnOf(run, 3);
    expect(turn).toMatchObject({ kind: "compact", parent_turn: 2, status: "completed" });
    expect(turn.summary).toBe(turn.answer);
    expect(turn.history).toMatchObject({ summary_through: 2, summary_turns: 2, written_by: "a0" });
    expect(await treeOf(run)).toMatchObject({ head: 2 });
  });

  it("is followed by turns that continue the head and read the summary", async () => {
    const run = await session(2);
    await follow(await (await compact(run)).json());
    await abortAllDurableObjects();
    expect(await treeOf(run)).toMatchObject({ head: 2 });
    const status = await (await request(`/api/sessions/${run.session_id}`)).json<SessionStatus>();
    expect([status.meta.turn, status.meta.question]).toEqual([2, "Turn 2"]);
    const next = await ask(run, "Turn 4");
    expect(next.turn).toBe(4);
    expect(await turnOf(run, 4)).toMatchObject({
      parent_turn: 2,
      status: "completed",
      history: { summary_through: 2, written_by: null, cut: null },
    });
  });

  it("is refused if a summary covers all turns already", async () => {
    const run = await session(1);
    await follow(await (await compact(run)).json());
    expect(await problemOf(await compact(run))).toEqual([409, "nothing_to_summarise"]);
  });

  it("cannot be the head, and no turn can follow it", async () => {
    const run = await session(1);
    await follow(await (await compact(run)).json());
    const moved = await post(`/api/sessions/${run.session_id}/head`, { turn: 2 });
    expect(await problemOf(moved)).toEqual([404, "turn_not_found"]);
    const body = { question: "And?", parent_turn: 2 };
    const followed = await post(`/api/sessions/${run.session_id}/turns`, body);
    expect(await problemOf(followed)).toEqual([404, "turn_not_found"]);
  });

  it("starts once per idempotency key", async () => {
    const run = await session(1);
    const key = { "idempotency-key": crypto.randomUUID() };
    const first = await (await compact(run, {}, key)).json<Run>();
    await follow(first);
    const again = await (await compact(run, {}, key)).json<Run>();
    expect([first.turn, again.turn]).toEqual([2, 2]);
  });

  it("is refused with an unknown field", async () => {
    const run = await session(1);
    expect(await problemOf(await compact(run, { question: "?" }))).toEqual([
      422,
      "request_invalid",
    ]);
  });
});

describe("a long conversation", () => {
  it("is summarised before the turn that would be too long, once for all branches", async () => {
    const run = await session(1, LONG);
    const second = await follow(await ask(run, "Turn 2"));
    expect(typesOf(second.events)).toContain("history.summarised");
    expect(await turnOf(run, 2)).toMatchObject({
      status: "completed",
      history: { summary_through: 1, summary_turns: 1, written_by: "a0" },
    });
    await abortAllDurableObjects();
    const branch = await follow(await ask(run, "Turn 3", { parent_turn: 1 }));
    expect(typesOf(branch.events)).not.toContain("history.summarised");
    expect(await turnOf(run, 3)).toMatchObject({
      status: "completed",
      history: { summary_through: 1, written_by: null },
    });
  });
});

describe("a question that no model fits", () => {
  it("is refused before anything is paid, with its length and the largest window", async () => {
    const question = "長".repeat(200_000);
    const body = { question, config: teamOf(["obedient"]) };
    const response = await post("/api/runs", body);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: "question_too_long",
      window: 128_000,
      tokens: expect.any(Number),
    });
  });

  it("does not harm the next turn", async () => {
    const run = await session(1);
    const path = `/api/sessions/${run.session_id}/turns`;
    const refused = await post(path, { question: "長".repeat(200_000) });
    expect(await problemOf(refused)).toEqual([422, "question_too_long"]);
    expect((await ask(run, "Turn 2")).turn).toBe(2);
  });
});
