import { describe, expect, it } from "vitest";
import { type TurnView, tallyOf, turnOf } from "../../src/protocol/view";
import { STREAM_TAIL } from "../../src/protocol/view-stream";
import * as b from "./builders";

const base = [b.created("anna", "ben"), b.turnStarted("anna", "ben"), b.attemptStarted()];

/** The turn after `bodies`, which follow the start of a turn of anna and ben. */
function turnAfter(...bodies: b.Body[]): TurnView {
  const turn = turnOf(b.view(b.log([...base, ...bodies])));
  if (!turn) throw new Error("no turn");
  return turn;
}
const anna = (turn: TurnView) => turn.agents[0];
const ben = (turn: TurnView) => turn.agents[1];
const attempt = (turn: TurnView) => turn.attempts[0];

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
      name: "goes on streaming when answers are injected midway",
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
      name: "starts afresh with the next attempt",
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
      name: "holds its vote with the reason",
      after: [b.voted("anna", "agent2.1", 1, "clear")],
      has: { vote: { label: "agent2.1", reason: "clear" } },
    },
    {
      name: "loses a voided vote",
      after: [b.voted("anna", "agent2.1"), b.votesCleared("agent2.2", ["anna", "agent2.1"])],
      has: { vote: null },
    },
    {
      name: "counts stale votes, which are no votes",
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

describe("phase of a turn", () => {
  const bothAnswered = [b.answered("anna", "agent1.1", 1), b.answered("ben", "agent2.1", 2)];
  it.each([
    {
      name: "begins with first answers",
      after: [b.answered("anna", "agent1.1", 1)],
      phase: "initial_answer",
    },
    { name: "is enforcement once all have answered", after: bothAnswered, phase: "enforcement" },
    {
      name: "is enforcement once the only one without an answer failed",
      after: [b.answered("anna", "agent1.1", 1), b.agentFailed("ben")],
      phase: "enforcement",
    },
    {
      name: "is enforcement once answers were shown, whoever is still missing",
      after: [b.answered("anna", "agent1.1", 1), b.roundStarted("anna", 2, ["agent1.1"])],
      phase: "enforcement",
    },
    {
      name: "is presentation once settled",
      after: [...bothAnswered, b.settled("anna", "agent1.1")],
      phase: "presentation",
    },
    {
      name: "begins anew with the next attempt",
      after: [...bothAnswered, b.settled("anna", "agent1.1"), b.attemptStarted(2)],
      phase: "initial_answer",
    },
    { name: "is done with the turn", after: [b.completed("anna", "x")], phase: "done" },
  ])("$name", ({ after, phase }) => {
    expect(turnAfter(...after).phase).toBe(phase);
  });
});

describe("votes and answers of an attempt", () => {
  it("keeps a voided vote and names the answer that voided it", () => {
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

  it("counts one vote of an agent, its latest", () => {
    const turn = turnAfter(b.voted("anna", "agent1.1"), b.voted("anna", "agent2.1", 2));
    expect(attempt(turn)?.votes.map(({ label, valid }) => [label, valid])).toEqual([
      ["agent1.1", false],
      ["agent2.1", true],
    ]);
  });

  it("counts only valid votes, and after the settlement what the log counted", () => {
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

  it("keeps the answers' texts by revision", () => {
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

  it("keeps all attempts readable after a restart", () => {
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
      name: "has the final answer when completed",
      end: b.completed("anna", "42"),
      has: {
        status: "completed",
        winner: "anna",
        finishReason: "consensus",
        final: { agent: "anna", attempt: 1, label: "agent1.final", text: "42" },
      },
    },
    {
      name: "has the reasons when failed",
      end: b.failed("ben"),
      has: {
        status: "failed",
        final: null,
        failure: { code: "no_answer", agents: [{ agent: "ben", code: "server_error" }] },
      },
    },
    {
      name: "has what is there when cancelled",
      end: b.cancelled("so far"),
      has: { status: "cancelled", finishReason: "cancelled", partial: { answer: "so far" } },
    },
    {
      name: "takes the bill from the terminal event",
      end: b.completed("anna", "42"),
      has: { costUsd: 2.5, unreportedUsd: 0, usage: { input_tokens: 1_000, output_tokens: 200 } },
    },
  ])("$name", ({ end, has }) => {
    const turn = turnAfter(b.callStarted("ben", "c1"), b.callCompleted("ben", "c1"), end);
    expect(turn).toMatchObject(has);
    expect([turn.endedAt, ben(turn)?.call]).toEqual([b.START + 500, null]);
  });

  it("adds up usage while the turn runs", () => {
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

describe("streaming text", () => {
  const started = b.callStarted("anna", "c1");
  it.each([
    {
      name: "joins pieces",
      pieces: [
        { offset: 0, text: "Hel" },
        { offset: 3, text: "lo" },
      ],
      text: "Hello",
      length: 5,
    },
    {
      name: "adds only the new part of an overlapping piece",
      pieces: [
        { offset: 0, text: "Hel" },
        { offset: 1, text: "ello" },
      ],
      text: "Hello",
      length: 5,
    },
    {
      name: "ignores a piece it has",
      pieces: [
        { offset: 0, text: "Hello" },
        { offset: 2, text: "llo" },
      ],
      text: "Hello",
      length: 5,
    },
    {
      name: "goes on after a gap",
      pieces: [
        { offset: 0, text: "He" },
        { offset: 4, text: "o" },
      ],
      text: "Heo",
      length: 5,
    },
  ])("$name", ({ pieces, text, length }) => {
    const turn = turnAfter(
      started,
      ...pieces.map((piece) => b.delta("anna", { call: "c1", ...piece })),
    );
    expect(anna(turn)?.stream?.text).toEqual({ text, length });
  });

  it("keeps kinds apart", () => {
    const turn = turnAfter(
      started,
      b.delta(
        "anna",
        { call: "c1", offset: 0, text: "hm", kind: "reasoning" },
        { call: "c1", offset: 0, text: "Yes" },
      ),
    );
    expect(anna(turn)?.stream).toMatchObject({
      latest: "text",
      reasoning: { text: "hm" },
      text: { text: "Yes" },
    });
  });

  it("forgets what a superseded try wrote, and drops its late pieces", () => {
    const late = b.delta("anna", { call: "c1", offset: 3, text: "old" });
    const turn = turnAfter(
      started,
      b.delta("anna", { call: "c1", offset: 0, text: "old" }),
      b.callStarted("anna", "c2"),
      late,
    );
    expect(anna(turn)?.stream).toMatchObject({ call: "c2", text: { text: "", length: 0 } });
  });

  it("keeps a bounded tail, whole characters only", () => {
    const pieces = Array.from({ length: 100 }, (_, index) => ({
      call: "c1",
      offset: 1_001 * index,
      text: `x${"😀".repeat(500)}`,
    }));
    const stream = anna(turnAfter(started, b.delta("anna", ...pieces)))?.stream?.text;
    expect(stream?.length).toBe(100_100);
    expect(stream?.text.length).toBeLessThanOrEqual(2 * STREAM_TAIL);
    expect(stream?.text.length).toBeGreaterThanOrEqual(STREAM_TAIL - 1);
    expect(stream?.text.isWellFormed()).toBe(true);
  });
});
