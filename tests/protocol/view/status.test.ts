import { describe, expect, it } from "vitest";
import { SessionStatusSchema, TurnResponseSchema } from "../../../src/protocol/api";
import { toStatus, toTurn } from "../../../src/protocol/view/status";
import { emptyView } from "../../../src/protocol/view";
import * as b from "../builders";

const base = [b.created("anna", "ben"), b.turnStarted("anna", "ben"), b.attemptStarted()];
const statusAfter = (bodies: b.Body[], now = b.START + 60_100) => {
  const status = toStatus(b.view(b.log(bodies)), { now });
  if (!status) throw new Error("no status");
  return status;
};

describe("toStatus", () => {
  it.each([
    { name: "has a completion of 0 before the first answer", after: [], percent: 0 },
    {
      name: "has a completion of 25 after the first of two answers",
      after: [b.answered("anna", "agent1.1", 1)],
      percent: 25,
    },
    {
      name: "does not count later answers of an agent",
      after: [b.answered("anna", "agent1.1", 1), b.answered("anna", "agent1.2", 2)],
      percent: 25,
    },
    {
      name: "counts valid votes",
      after: [
        b.answered("anna", "agent1.1", 1),
        b.answered("ben", "agent2.1", 2),
        b.voted("anna", "agent2.1"),
      ],
      percent: 75,
    },
    {
      name: "does not count voided votes",
      after: [
        b.answered("anna", "agent1.1", 1),
        b.voted("anna", "agent1.1"),
        b.votesCleared("agent2.1", ["anna", "agent1.1"]),
      ],
      percent: 25,
    },
    {
      name: "has a completion of 100 in a completed turn, also if an agent failed",
      after: [b.answered("anna", "agent1.1", 1), b.agentFailed("ben"), b.completed("anna", "x")],
      percent: 100,
    },
  ])("$name", ({ after, percent }) => {
    expect(statusAfter([...base, ...after]).coordination.completion_percentage).toBe(percent);
  });

  it("has MassGen's fields of a finished run", () => {
    const status = statusAfter(b.story);
    expect(status).toMatchObject({
      meta: {
        session_id: b.SESSION,
        turn: 1,
        question: "What is the best sorting algorithm?",
        start_time: b.START / 1000 + 0.1,
        elapsed_seconds: 2.9,
      },
      coordination: {
        phase: "done",
        completion_percentage: 100,
        is_final_presentation: false,
        active_agent: null,
      },
      results: {
        votes: { "agent1.1": 2 },
        winner: "anna",
        final_answer_preview: "Use quicksort.",
        finish_reason: "consensus",
      },
      turns: [{ turn: 1, status: "completed", finish_reason: "consensus" }],
      cost_usd: 2.5,
    });
    expect(status.agents["ben"]).toEqual({
      status: "voted",
      answer_count: 2,
      latest_answer_label: "agent2.2",
      left_out: 0,
      vote_cast: {
        voted_for_agent: "anna",
        voted_for_label: "agent1.1",
        reason_preview: "because of agent1.1",
      },
      times_restarted: 1,
      last_activity: b.START / 1000 + 2.3,
      error: {
        type: "overloaded",
        message: "The model is overloaded.",
        timestamp: b.START / 1000 + 0.9,
      },
      input_required: null,
      provider: "chatcompletion",
      model: "model-of-ben",
      round: 2,
      stale_votes: 0,
      tokens: 160,
      reported_tokens: 120,
      reserved_tokens: 40,
      cost_usd: 0.75,
      cost_usd_known: 0.75,
      hosted_uses: {},
    });
  });

  it("is that of the latest question once a turn that only summarises has ended", () => {
    const compact = { type: "turn.started", kind: "compact", question: "", turn: 2 } as const;
    const began: b.Body[] = [
      ...b.story,
      { ...b.turnStarted("anna", "ben"), parent_turn: 1, ...compact } as b.Body,
      { ...b.attemptStarted(), turn: 2 },
    ];
    expect(statusAfter(began)).toMatchObject({
      ...{ meta: { turn: 2, question: "" }, coordination: { completion_percentage: 0 } },
    });
    const ended = statusAfter([...began, { ...b.completed("anna", "They sorted."), turn: 2 }]);
    expect(ended).toMatchObject({
      meta: { turn: 1, question: "What is the best sorting algorithm?" },
      results: { final_answer_preview: "Use quicksort." },
      turns: [{ turn: 1 }, { turn: 2, kind: "compact" }],
      head: 1,
    });
  });

  it("D18 shows a tool server's request for input by a person, with the server's origin", () => {
    const story = [
      b.created("anna"),
      b.turnStarted("anna"),
      b.attemptStarted(),
      b.inputRequired("anna"),
    ];
    expect(toStatus(b.view(b.log(story)), { now: 0 })?.agents["anna"]?.input_required).toEqual({
      tool: "mcp__box__ask",
      origin: "https://box.example.com",
      requests: b.REQUESTS,
      timestamp: expect.any(Number),
    });
  });

  it("shows the working agent and the phase while the final text is being written", () => {
    const presenting = b.story.slice(
      0,
      b.story.findIndex(({ type }) => type === "presentation.started") + 2,
    );
    expect(statusAfter(presenting).coordination).toMatchObject({
      phase: "presentation",
      is_final_presentation: true,
      active_agent: "anna",
    });
  });

  it("has the duration of a running turn until now, and never less than 0", () => {
    expect(statusAfter(base).meta.elapsed_seconds).toBe(60);
    expect(statusAfter(base, b.START - 5_000).meta.elapsed_seconds).toBe(0);
  });

  it("shortens long texts without cutting a surrogate pair", () => {
    const emoji = "😀".repeat(300);
    const status = statusAfter([
      ...base,
      b.answered("anna", "agent1.1", 1),
      b.voted("anna", "agent1.1", 1, emoji),
      b.completed("anna", `x${emoji}`),
    ]);
    const texts = [
      status.results.final_answer_preview ?? "",
      status.agents["anna"]?.vote_cast?.reason_preview ?? "",
    ];
    expect(
      texts.map((text) => [text.length <= 200, text.isWellFormed(), text.endsWith("…")]),
    ).toEqual([
      [true, true, true],
      [true, true, true],
    ]);
    expect(texts[1]?.length).toBeLessThanOrEqual(100);
  });

  it.each([
    { name: "in_progress while the turn runs", after: [], reason: "in_progress" },
    { name: "error if the turn failed", after: [b.failed("anna")], reason: "error" },
    {
      name: "cancelled if the turn was cancelled",
      after: [b.cancelled(null)],
      reason: "cancelled",
    },
  ])("has the finish reason $name", ({ after, reason }) => {
    expect(statusAfter([...base, ...after]).results.finish_reason).toBe(reason);
  });

  it("is null before the first turn", () => {
    expect(toStatus(emptyView(), { now: 0 })).toBeNull();
  });

  it("fits its schema at every point of a run, with nothing beyond it", () => {
    for (let length = 2; length <= b.story.length; length++) {
      const status = statusAfter(b.story.slice(0, length));
      expect(SessionStatusSchema.parse(status)).toEqual(status);
    }
  });
});

describe("toTurn", () => {
  const view = b.view(b.log(b.story));

  it("has question, answer, winner, votes with reasons, usage, cost and attempts", () => {
    expect(toTurn(view, 1)).toMatchObject({
      session_id: b.SESSION,
      turn: 1,
      status: "completed",
      question: "What is the best sorting algorithm?",
      answer: "Use quicksort.",
      winner: "anna",
      label: "agent1.final",
      finish_reason: "consensus",
      cost_usd: 2.5,
      votes: [
        {
          agent: "anna",
          label: "agent2.1",
          voted_for_agent: "ben",
          valid: false,
          voided_by: "agent2.2",
        },
        {
          agent: "anna",
          label: "agent1.1",
          voted_for_agent: "anna",
          valid: true,
          reason: "because of agent1.1",
        },
        { agent: "ben", label: "agent1.1", voted_for_agent: "anna", valid: true },
      ],
      attempts: [
        {
          attempt: 1,
          tally: { "agent1.1": 2 },
          answers: [{ label: "agent1.1" }, { label: "agent2.1" }, { label: "agent2.2" }],
        },
      ],
      error: null,
      partial: null,
      citations: [],
      hosted_uses: { anna: {}, ben: {} },
    });
  });

  it("has the number of uses of hosted tools, by agent", () => {
    const searched = [
      ...base,
      b.callStarted("ben", "c1"),
      b.hostedUse("ben", "c1"),
      b.hostedUse("ben", "c1", { outcome: "error" }),
    ];
    const code = b.hostedUse("ben", "c1", { name: "code_execution" });
    const events = b.view(b.log([...searched, code]));
    const uses = { web_search: 2, code_execution: 1 };
    expect(toTurn(events, 1)).toMatchObject({ hosted_uses: { anna: {}, ben: uses } });
    expect(toStatus(events, { now: 0 })?.agents["ben"]?.hosted_uses).toEqual(uses);
  });

  it("has the totals of cache writes and hosted tools if there are any", () => {
    const usage = { ...b.usage(10, 5), cache_write_tokens: 3, hosted_uses: { web_search: 2 } };
    const events = b.view(b.log([...base, b.completed("anna", "x", usage)]));
    expect(TurnResponseSchema.parse(toTurn(events, 1)).usage).toEqual(usage);
    expect(toStatus(events, { now: 0 })?.usage).toEqual(usage);
  });

  it("fits its schema at every point of a run, with nothing beyond it", () => {
    for (let length = 2; length <= b.story.length; length++) {
      const turn = toTurn(b.view(b.log(b.story.slice(0, length))), 1);
      expect(TurnResponseSchema.parse(turn)).toEqual(turn);
    }
  });

  it("is null for a turn that does not exist", () => {
    expect(toTurn(view, 2)).toBeNull();
  });
});
