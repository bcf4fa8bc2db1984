import { describe, expect, it } from "vitest";
import { type TurnView, tallyOf } from "../../../src/protocol/view";
import * as b from "../builders";
import { turnAfter } from "../turn-after";

const ben = (turn: TurnView) => turn.agents[1];
const attempt = (turn: TurnView) => turn.attempts[0];

describe("phase of a turn", () => {
  const bothAnswered = [b.answered("anna", "agent1.1", 1), b.answered("ben", "agent2.1", 2)];
  it.each([
    {
      name: "is initial_answer at the start",
      after: [b.answered("anna", "agent1.1", 1)],
      phase: "initial_answer",
    },
    {
      name: "is enforcement once all agents have answered",
      after: bothAnswered,
      phase: "enforcement",
    },
    {
      name: "is enforcement once the only agent without an answer has failed",
      after: [b.answered("anna", "agent1.1", 1), b.agentFailed("ben")],
      phase: "enforcement",
    },
    {
      name: "is enforcement once an agent was shown answers, even if an agent has not answered",
      after: [b.answered("anna", "agent1.1", 1), b.roundStarted("anna", 2, ["agent1.1"])],
      phase: "enforcement",
    },
    {
      name: "is presentation once the attempt is settled",
      after: [...bothAnswered, b.settled("anna", "agent1.1")],
      phase: "presentation",
    },
    {
      name: "is initial_answer again in the next attempt",
      after: [...bothAnswered, b.settled("anna", "agent1.1"), b.attemptStarted(2)],
      phase: "initial_answer",
    },
    { name: "is done at the end of the turn", after: [b.completed("anna", "x")], phase: "done" },
  ])("$name", ({ after, phase }) => {
    expect(turnAfter(...after).phase).toBe(phase);
  });
});

describe("an attempt", () => {
  it("keeps a voided vote, with the label of the answer that voided it", () => {
    const turn = turnAfter(
      b.voted("anna", "agent2.1"),
      b.votesCleared("agent2.2", ["anna", "agent2.1"]),
      b.voted("anna", "agent2.2", 2),
    );
    expect(attempt(turn)?.votes).toMatchObject([
      { voter: "anna", label: "agent2.1", valid: false, voidedBy: "agent2.2" },
      { voter: "anna", label: "agent2.2", valid: true, voidedBy: null },
    ]);
  });

  it("counts only the latest vote of an agent", () => {
    const turn = turnAfter(b.voted("anna", "agent1.1"), b.voted("anna", "agent2.1", 2));
    expect(attempt(turn)?.votes.map(({ label, valid }) => [label, valid])).toEqual([
      ["agent1.1", false],
      ["agent2.1", true],
    ]);
  });

  it("counts only valid votes, and has the tally of the log after the settlement", () => {
    const votes = [
      b.voted("anna", "agent2.1"),
      b.votesCleared("agent2.2", ["anna", "agent2.1"]),
      b.voted("ben", "agent2.2", 2),
    ];
    const open = attempt(turnAfter(...votes));
    const closed = attempt(
      turnAfter(...votes, b.settled("ben", "agent2.2", "deadline", { "agent2.2": 7 })),
    );
    expect([open && tallyOf(open), closed && tallyOf(closed)]).toEqual([
      { "agent2.2": 1 },
      { "agent2.2": 7 },
    ]);
  });

  it("has the texts of all answers in the order of their revisions", () => {
    const turn = turnAfter(
      b.answered("ben", "agent2.1", 1, "first"),
      b.answered("anna", "agent1.1", 2, "second"),
    );
    expect(
      attempt(turn)?.answers.map(({ revision, label, content }) => [revision, label, content]),
    ).toEqual([
      [1, "agent2.1", "first"],
      [2, "agent1.1", "second"],
    ]);
  });

  it("stays in the view after the next attempt has started", () => {
    const restart = {
      type: "attempt.restarted",
      attempt: 1,
      agent: "anna",
      reason: "too short",
      instructions: "say more",
    } as const;
    const turn = turnAfter(
      b.answered("anna", "agent1.1", 1),
      b.settled("anna", "agent1.1"),
      b.presented("anna", "x"),
      restart,
      b.attemptStarted(2),
    );
    expect(turn.attempts).toMatchObject([
      {
        number: 1,
        answers: [{ label: "agent1.1" }],
        presentation: { content: "x" },
        restart: { reason: "too short" },
      },
      { number: 2, answers: [], feedback: { instructions: "say more" } },
    ]);
  });
});

describe("the end of a turn", () => {
  it.each([
    {
      name: "sets the final answer if the turn was completed",
      end: b.completed("anna", "42"),
      has: {
        status: "completed",
        winner: "anna",
        finishReason: "consensus",
        final: { agent: "anna", attempt: 1, label: "agent1.final", text: "42" },
      },
    },
    {
      name: "sets the reasons if the turn failed",
      end: b.failed("ben"),
      has: {
        status: "failed",
        final: null,
        failure: { code: "no_answer", agents: [{ agent: "ben", code: "server_error" }] },
      },
    },
    {
      name: "sets the partial result if the turn was cancelled",
      end: b.cancelled("so far"),
      has: { status: "cancelled", finishReason: "cancelled", partial: { answer: "so far" } },
    },
    {
      name: "replaces usage and cost by those of the terminal event",
      end: b.completed("anna", "42"),
      has: { costUsd: 2.5, unreportedUsd: 0, usage: { input_tokens: 1_000, output_tokens: 200 } },
    },
  ])("$name", ({ end, has }) => {
    const turn = turnAfter(b.callStarted("ben", "c1"), b.callCompleted("ben", "c1"), end);
    expect(turn).toMatchObject(has);
    expect([turn.endedAt, ben(turn)?.call]).toEqual([b.START + 500, null]);
  });

  it("comes after usage and cost have grown during the turn", () => {
    const turn = turnAfter(
      b.callCompleted("anna", "c1"),
      b.callCompleted("ben", "c2"),
      b.callFailed("ben", "c3"),
    );
    expect(turn).toMatchObject({
      status: "running",
      costUsd: 1.25,
      unreportedUsd: 0.25,
      usage: { input_tokens: 200, output_tokens: 40 },
    });
  });
});
