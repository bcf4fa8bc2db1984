import { describe, expect, it } from "vitest";
import type { TurnView } from "../../../src/protocol/view";
import * as b from "../builders";
import { turnAfter } from "../turn-after";

const anna = (turn: TurnView) => turn.agents[0];
describe("an agent", () => {
  it.each([
    { name: "waits before its first call", after: [], status: "waiting" },
    {
      name: "waits in a first round without a call",
      after: [b.roundStarted("anna")],
      status: "waiting",
    },
    {
      name: "streams from the start of its call",
      after: [b.roundStarted("anna"), b.callStarted("anna", "c1")],
      status: "streaming",
    },
    {
      name: "waits for the next try of a failed call",
      after: [b.callStarted("anna", "c1"), b.callFailed("anna", "c1")],
      status: "waiting",
    },
    {
      name: "has answered",
      after: [b.callStarted("anna", "c1"), b.answered("anna", "agent1.1", 1)],
      status: "answered",
    },
    {
      name: "restarts with a round after the first",
      after: [b.roundStarted("anna", 2, ["agent2.1"])],
      status: "restarting",
    },
    {
      name: "has voted",
      after: [b.answered("anna", "agent1.1", 1), b.voted("anna", "agent1.1")],
      status: "voted",
    },
    {
      name: "restarts when its vote is voided",
      after: [b.voted("anna", "agent1.1"), b.votesCleared("agent2.1", ["anna", "agent1.1"])],
      status: "restarting",
    },
    {
      name: "still streams when it is shown newer answers during a call",
      after: [b.callStarted("anna", "c1"), b.injected("anna", ["agent2.1"], "tool_result")],
      status: "streaming",
    },
    {
      name: "has the status error when it failed",
      after: [b.agentFailed("anna")],
      status: "error",
    },
    {
      name: "has timed out when the time limit of its first answer passes",
      after: [b.agentFailed("anna", "initial_round_timeout")],
      status: "timeout",
    },
    {
      name: "has timed out when the deadline ends coordination during its work",
      after: [b.callStarted("anna", "c1"), b.settled("ben", "agent2.1", "deadline")],
      status: "timeout",
    },
    {
      name: "is completed when the budget runs out after its first answer",
      after: [
        b.answered("anna", "agent1.1", 1),
        b.callStarted("anna", "c1", 2),
        b.settled("anna", "agent1.1", "budget"),
      ],
      status: "completed",
    },
    {
      name: "has the status error when the budget runs out before its first answer (A1)",
      after: [b.callStarted("anna", "c1"), b.settled("ben", "agent2.1", "budget")],
      status: "error",
    },
    {
      name: "has voted also after the settlement",
      after: [b.voted("anna", "agent2.1"), b.settled("ben", "agent2.1")],
      status: "voted",
    },
    {
      name: "is completed after its presentation",
      after: [
        b.settled("anna", "agent1.1"),
        b.presenting("anna", "agent1.1"),
        b.callStarted("anna", "c9", 3),
        b.presented("anna", "final"),
      ],
      status: "completed",
    },
    {
      name: "has the status error when it is a reason for the failed turn",
      after: [b.callStarted("anna", "c1"), b.failed("anna", "ben")],
      status: "error",
    },
    {
      name: "waits again in the next attempt",
      after: [b.voted("anna", "agent1.1"), b.attemptStarted(2)],
      status: "waiting",
    },
  ])("$name", ({ after, status }) => {
    expect(anna(turnAfter(...after))?.status).toBe(status);
  });
});

describe("the view of an agent", () => {
  it.each([
    {
      name: "counts answers and has the latest label",
      after: [b.answered("anna", "agent1.1", 1), b.answered("anna", "agent1.2", 2)],
      fields: { answers: 2, latestLabel: "agent1.2" },
    },
    {
      name: "has the vote with its reason",
      after: [b.voted("anna", "agent2.1", 1, "clear")],
      fields: { vote: { label: "agent2.1", reason: "clear" } },
    },
    {
      name: "no longer has a voided vote",
      after: [b.voted("anna", "agent2.1"), b.votesCleared("agent2.2", ["anna", "agent2.1"])],
      fields: { vote: null },
    },
    {
      name: "counts stale votes separately from votes",
      after: [b.voteStale("anna", "agent2.1", ["agent2.2"])],
      fields: { staleVotes: 1, vote: null },
    },
    {
      name: "adds up tokens and cost of completed and failed calls",
      after: [b.callCompleted("anna", "c1"), b.callFailed("anna", "c2")],
      fields: { reportedTokens: 120, reservedTokens: 40, costUsd: 0.75 },
    },
    {
      name: "has the call in flight",
      after: [b.callStarted("anna", "c7")],
      fields: { call: { id: "c7", purpose: "coordination", try: 1, startedAt: b.START + 300 } },
    },
    {
      name: "has no call after a failure, but the time of the next try and the error",
      after: [b.callStarted("anna", "c1"), b.callFailed("anna", "c1")],
      fields: {
        call: null,
        retryAt: b.START + 60_000,
        lastError: { code: "overloaded", message: "The model is overloaded.", at: b.START + 400 },
      },
    },
    {
      name: "counts rounds after the first, and injections, as restarts",
      after: [
        b.roundStarted("anna"),
        b.roundStarted("anna", 2, ["agent1.1"]),
        b.injected("anna", ["agent2.2"]),
      ],
      fields: { restarts: 2, round: 2 },
    },
    {
      name: "lists the running tools",
      after: [
        {
          type: "tool.started",
          attempt: 1,
          agent: "anna",
          round: 1,
          tool_call: "t1",
          name: "read_file",
        } as const,
      ],
      fields: { tools: [{ toolCall: "t1", name: "read_file" }] },
    },
    {
      name: "keeps tokens and cost in the next attempt, but no answers and no round",
      after: [
        b.callCompleted("anna", "c1"),
        b.answered("anna", "agent1.1", 1),
        b.attemptStarted(2),
      ],
      fields: { reportedTokens: 120, costUsd: 0.5, answers: 0, latestLabel: null, round: 0 },
    },
    {
      name: "has alias, provider and model from the start of the turn",
      after: [],
      fields: { alias: "agent2", provider: "chatcompletion", model: "model-of-anna" },
    },
    {
      name: "keeps the answer if the agent fails later",
      after: [b.answered("anna", "agent1.1", 1), b.agentFailed("anna")],
      fields: { latestLabel: "agent1.1", out: "failed" },
    },
  ])("$name", ({ after, fields }) => {
    expect(anna(turnAfter(...after))).toMatchObject(fields);
  });

  it("shows the latest progress of a tool only while the tool runs", () => {
    const tool = { attempt: 1, agent: "anna", round: 1, tool_call: "t1", name: "mcp__box__ask" };
    const running = [
      { type: "tool.started" as const, ...tool },
      b.progressed("anna", 1),
      b.progressed("anna", 2, "reads"),
    ];
    const progress = {
      origin: "https://box.example.com",
      progress: 2,
      total: 10,
      message: "reads",
    };
    expect(anna(turnAfter(...running))?.tools).toEqual([
      { toolCall: "t1", name: "mcp__box__ask", progress },
    ]);
    const afterEnd = turnAfter(
      ...running,
      { type: "tool.unknown" as const, ...tool },
      b.progressed("anna", 3),
    );
    expect(anna(afterEnd)?.tools).toEqual([]);
  });

  it("D18 shows a tool server's request for input by a person until the next attempt", () => {
    const request = {
      tool: "mcp__box__ask",
      origin: "https://box.example.com",
      requests: b.REQUESTS,
    };
    expect(anna(turnAfter(b.inputRequired("anna")))?.inputRequired).toMatchObject(request);
    expect(anna(turnAfter(b.inputRequired("anna"), b.attemptStarted(2)))?.inputRequired).toBe(null);
  });

  it.each(["tool.completed", "tool.unknown", "tool.interrupted"] as const)(
    "does not list a tool after %s",
    (type) => {
      const tool = { attempt: 1, agent: "anna", round: 1, tool_call: "t1", name: "read_file" };
      const end =
        type === "tool.completed" ? { type, ...tool, outcome: "ok" as const } : { type, ...tool };
      expect(anna(turnAfter({ type: "tool.started", ...tool }, end))?.tools).toEqual([]);
    },
  );
});
