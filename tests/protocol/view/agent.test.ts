import { describe, expect, it } from "vitest";
import type { TurnView } from "../../../src/protocol/view";
import * as b from "../builders";
import { turnAfter } from "../turn-after";

const anna = (turn: TurnView) => turn.agents[0];
describe("status of an agent", () => {
  it.each([
    { name: "waits before its first call", after: [], status: "waiting" },
    {
      name: "waits in a first round without a call",
      after: [b.roundStarted("anna")],
      status: "waiting",
    },
    {
      name: "streams from its call's start",
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
      name: "keeps streaming when answers are injected midway",
      after: [b.callStarted("anna", "c1"), b.injected("anna", ["agent2.1"], "tool_result")],
      status: "streaming",
    },
    { name: "is in error when it failed", after: [b.agentFailed("anna")], status: "error" },
    {
      name: "timed out when its time for a first answer ran out",
      after: [b.agentFailed("anna", "initial_round_timeout")],
      status: "timeout",
    },
    {
      name: "timed out when the deadline found it working",
      after: [b.callStarted("anna", "c1"), b.settled("ben", "agent2.1", "deadline")],
      status: "timeout",
    },
    {
      name: "completes when the budget ran out while it worked on after its answer",
      after: [
        b.answered("anna", "agent1.1", 1),
        b.callStarted("anna", "c1", 2),
        b.settled("anna", "agent1.1", "budget"),
      ],
      status: "completed",
    },
    {
      name: "is in error when the budget ran out before its first answer (A1)",
      after: [b.callStarted("anna", "c1"), b.settled("ben", "agent2.1", "budget")],
      status: "error",
    },
    {
      name: "keeps its vote through the settlement",
      after: [b.voted("anna", "agent2.1"), b.settled("ben", "agent2.1")],
      status: "voted",
    },
    {
      name: "completes with its presentation",
      after: [
        b.settled("anna", "agent1.1"),
        b.presenting("anna", "agent1.1"),
        b.callStarted("anna", "c9", 3),
        b.presented("anna", "final"),
      ],
      status: "completed",
    },
    {
      name: "is in error when the turn fails by it",
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

describe("what an agent has done", () => {
  it.each([
    {
      name: "counts answers and knows the latest",
      after: [b.answered("anna", "agent1.1", 1), b.answered("anna", "agent1.2", 2)],
      has: { answers: 2, latestLabel: "agent1.2" },
    },
    {
      name: "has its vote with the reason",
      after: [b.voted("anna", "agent2.1", 1, "clear")],
      has: { vote: { label: "agent2.1", reason: "clear" } },
    },
    {
      name: "loses a voided vote",
      after: [b.voted("anna", "agent2.1"), b.votesCleared("agent2.2", ["anna", "agent2.1"])],
      has: { vote: null },
    },
    {
      name: "counts stale votes separately from votes",
      after: [b.voteStale("anna", "agent2.1", ["agent2.2"])],
      has: { staleVotes: 1, vote: null },
    },
    {
      name: "adds up tokens and cost of completed and failed calls",
      after: [b.callCompleted("anna", "c1"), b.callFailed("anna", "c2")],
      has: { reportedTokens: 120, reservedTokens: 40, costUsd: 0.75 },
    },
    {
      name: "names the call in flight",
      after: [b.callStarted("anna", "c7")],
      has: { call: { id: "c7", purpose: "coordination", try: 1, startedAt: b.START + 300 } },
    },
    {
      name: "has no call once it failed, but a next try and an error",
      after: [b.callStarted("anna", "c1"), b.callFailed("anna", "c1")],
      has: {
        call: null,
        retryAt: b.START + 60_000,
        lastError: { code: "overloaded", message: "The model is overloaded.", at: b.START + 400 },
      },
    },
    {
      name: "counts restarts: rounds after the first and injections",
      after: [
        b.roundStarted("anna"),
        b.roundStarted("anna", 2, ["agent1.1"]),
        b.injected("anna", ["agent2.2"]),
      ],
      has: { restarts: 2, round: 2 },
    },
    {
      name: "lists the tools that run",
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
      has: { tools: [{ toolCall: "t1", name: "read_file" }] },
    },
    {
      name: "keeps tokens and cost over attempts, nothing else",
      after: [
        b.callCompleted("anna", "c1"),
        b.answered("anna", "agent1.1", 1),
        b.attemptStarted(2),
      ],
      has: { reportedTokens: 120, costUsd: 0.5, answers: 0, latestLabel: null, round: 0 },
    },
    {
      name: "is known by its alias, provider and model from the start",
      after: [],
      has: { alias: "agent2", provider: "chatcompletion", model: "model-of-anna" },
    },
    {
      name: "keeps its answer when it fails later",
      after: [b.answered("anna", "agent1.1", 1), b.agentFailed("anna")],
      has: { latestLabel: "agent1.1", out: "failed" },
    },
  ])("$name", ({ after, has }) => {
    expect(anna(turnAfter(...after))).toMatchObject(has);
  });

  it("shows how far a tool is by its server's latest word, while it runs", () => {
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
    const over = turnAfter(
      ...running,
      { type: "tool.unknown" as const, ...tool },
      b.progressed("anna", 3),
    );
    expect(anna(over)?.tools).toEqual([]);
  });

  it("D18 shows what a tool's server wanted of a person, after its call too, until the next attempt", () => {
    const asked = {
      tool: "mcp__box__ask",
      origin: "https://box.example.com",
      requests: b.REQUESTS,
    };
    expect(anna(turnAfter(b.inputRequired("anna")))?.inputRequired).toMatchObject(asked);
    expect(anna(turnAfter(b.inputRequired("anna"), b.attemptStarted(2)))?.inputRequired).toBe(null);
  });

  it.each(["tool.completed", "tool.unknown", "tool.interrupted"] as const)(
    "no longer lists a tool after %s",
    (type) => {
      const tool = { attempt: 1, agent: "anna", round: 1, tool_call: "t1", name: "read_file" };
      const end =
        type === "tool.completed" ? { type, ...tool, outcome: "ok" as const } : { type, ...tool };
      expect(anna(turnAfter({ type: "tool.started", ...tool }, end))?.tools).toEqual([]);
    },
  );
});
