import { describe, expect, it } from "vitest";
import { type HistoryFacts, runningTurn } from "../../../src/coordination";
import { answers, cancel, fails, hangs, says, votes } from "../builders";
import { table } from "../rule-table";
import { World, type WorldOptions } from "../world";

/** Six turns of 40,000 bytes: more than the history of a window of 128,000 tokens may have. */
const history: HistoryFacts = {
  summary: null,
  turns: [1, 2, 3, 4, 5, 6].map((turn) => ({ turn, bytes: 40_000 })),
  requestBytes: [],
  attachedTokens: 0,
};
const continued: HistoryFacts = { ...history, summary: { turns: [1, 2], bytes: 9_000 } };
const world: WorldOptions = { agents: ["a", "b"], history };
const rounds = ["round.started a #2 first []", "round.started b #1 first []"];
const whole = { agents: ["a", "b"], history: { ...history, turns: history.turns.slice(4) } };

describe("a summary of earlier turns", () => {
  table([
    {
      name: "is written before the attempt by a call without tools",
      world,
      when: (at) => at.starts("a"),
      then: ["call.started a nothing"],
      owes: [],
    },
    {
      name: "lets the team start once it is written",
      world,
      when: (at) => at.does("a", says("They built a boat.")),
      then: ["call.completed a", "history.summarised a [1 2 3 4 5] They built a boat.", ...rounds],
      owes: ["call a", "call b"],
    },
    {
      name: "names the summary that it continues",
      world: { ...world, history: { ...continued, turns: history.turns.slice(2) } },
      when: (at) => at.does("a", says("And a mast.")),
      then: ["call.completed a", "history.summarised a [1 2 3 4 5] after 2 And a mast.", ...rounds],
    },
    {
      name: "is written by another agent if the first one's window is too small",
      world: { ...world, each: { a: { context_window: 32_000 } } },
      when: (at) => at.starts("b"),
      then: ["call.started b nothing"],
    },
    {
      name: "precedes the personas",
      world: { ...world, rules: { personas: true } },
      when: (at) => at.does("a", says("A boat.")),
      then: [
        "call.completed a",
        "history.summarised a [1 2 3 4 5] A boat.",
        "round.started a #2 first [] personas",
      ],
    },
    {
      name: "precedes the presentation of a team that skips coordination",
      world: { ...world, rules: { skip_coordination: true } },
      when: (at) => at.does("a", says("A boat.")),
      then: [
        "call.completed a",
        "history.summarised a [1 2 3 4 5] A boat.",
        "attempt.settled skipped a -",
        "presentation.started a -",
      ],
    },
    {
      name: "is replaced by cut texts when its call fails finally",
      world,
      when: (at) => at.does("a", fails({ class: "quota", code: "quota" })),
      then: ["call.failed a quota final", "history.cut a quota", ...rounds],
      owes: ["call a", "call b"],
    },
    {
      name: "costs its author nothing when its key is refused: the attempt decides about that",
      world,
      when: (at) => at.does("a", fails({ class: "bad_credentials", code: "bad_credentials" })),
      then: ["call.failed a bad_credentials final", "history.cut a bad_credentials", ...rounds],
    },
    {
      name: "is tried again after a transient failure",
      world,
      when: (at) => at.does("a", fails({ retryAfterMs: 2_000 })),
      then: ["call.failed a transient retry in 2000"],
      owes: ["call a in 2000"],
    },
    {
      name: "is tried again after a restart of the service",
      world,
      given: (at) => at.starts("a"),
      when: (at) => at.interrupt(),
      then: ["call.failed a interrupted retry in 0"],
      owes: ["call a"],
    },
    {
      name: "does not count when it was cut at its output limit",
      world,
      when: (at) => at.does("a", says("They built", { stopReason: "length" })),
      then: ["call.completed a", "history.cut a length", ...rounds],
    },
    {
      name: "does not count when it is empty",
      world,
      when: (at) => at.does("a", says("  ")),
      then: ["call.completed a", "history.cut a empty", ...rounds],
    },
    {
      name: "is given up when the turn's budget cannot pay for it and the work on the question",
      world: { ...world, budget: { max_tokens: 2_400 } },
      when: (at) => at.starts("a"),
      then: ["call.deferred a", "history.cut a budget", ...rounds],
    },
    {
      name: "is given up after a fifth of the turn's time",
      world: { ...world, rules: { orchestrator_timeout_ms: 100_000 } },
      given: (at) => {
        at.starts("a");
        at.wait(19_999);
      },
      when: (at) => at.wait(1),
      then: ["call.failed a cancelled final", "history.cut a summary_timeout", ...rounds],
    },
    {
      name: "is charged when the user cancels, and lost only while it is not finished",
      world,
      given: (at) => at.starts("a"),
      when: (at) => at.give(cancel),
      then: [
        "call.failed a cancelled final",
        "attempt.settled cancelled - -",
        "turn.cancelled - - -",
      ],
    },
    {
      name: "is not needed for a short history",
      world: whole,
      when: (at) => at.starts("a"),
      then: ["call.started a new_answer"],
    },
  ]);

  it("is written once per turn, however many attempts the turn has", () => {
    const at = new World({ ...world, rules: { max_orchestration_restarts: 1 } });
    at.ask();
    const log = at.play({
      a: { coordination: [answers("A"), votes("a"), answers("A"), votes("a")] },
      b: { coordination: [answers("B"), votes("a"), answers("B"), votes("a")] },
    });
    expect(log.filter(({ type }) => type === "history.summarised")).toHaveLength(1);
  });

  it("is used by the agents of the turn", () => {
    const at = new World(world);
    at.ask();
    expect(runningTurn(at.state)?.history).toMatchObject({
      summary: null,
      summarises: { agent: 0 },
    });
    at.does("a", says("A boat."));
    expect(runningTurn(at.state)?.history).toMatchObject({ summary: 5, summarises: null });
  });

  it("is cut to its share of the window", () => {
    const at = new World(world);
    at.ask();
    at.does("a", says("x".repeat(100_000)));
    expect(at.events("history.summarised")[0]?.text).toHaveLength(24 * 1024 - 640);
  });

  it("does not shorten the time of the first round", () => {
    const at = new World({ ...world, rules: { initial_round_timeout_ms: 30_000 } });
    at.ask();
    at.wait(20_000);
    at.does("a", says("A boat."));
    at.wait(29_999);
    expect(at.events("agent.failed")).toEqual([]);
  });

  it("may cost at most half of what the turn may spend", () => {
    const at = new World({ ...world, budget: { max_tokens: 20_000 } });
    at.ask();
    expect(at.starts("a")).toMatchObject([{ reserved: { tokens: 5_000 } }]);
    const smaller = new World({ ...world, budget: { max_tokens: 6_000 } });
    smaller.ask();
    expect(smaller.starts("a")).toMatchObject([{ reserved: { tokens: 3_000 } }]);
  });
});

describe("a turn that only summarises", () => {
  const compact: WorldOptions = { agents: ["a", "b"], kind: "compact", history: whole.history };
  table([
    {
      name: "has one call, and ends with its summary",
      world: compact,
      when: (at) => at.does("a", says("A boat.")),
      then: [
        "call.completed a",
        "history.summarised a [5 6] A boat.",
        "turn.completed a agent1.summary skipped",
      ],
      owes: [],
    },
    {
      name: "fails with its call",
      world: compact,
      when: (at) => at.does("a", fails({ class: "quota", code: "quota" })),
      then: ["call.failed a quota final", "turn.failed summary_failed a:quota"],
    },
    {
      name: "fails when its budget cannot pay for the call",
      world: { ...compact, budget: { max_tokens: 1_200 } },
      when: (at) => at.starts("a"),
      then: ["call.deferred a", "turn.failed summary_failed a:budget"],
    },
    {
      name: "can be cancelled",
      world: compact,
      given: (at) => at.starts("a"),
      when: (at) => at.give(cancel),
      then: [
        "call.failed a cancelled final",
        "attempt.settled cancelled - -",
        "turn.cancelled - - -",
      ],
    },
    {
      name: "ends at its deadline",
      world: { ...compact, rules: { orchestrator_timeout_ms: 50_000 } },
      given: (at) => {
        at.does("a", hangs);
        at.wait(49_999);
      },
      when: (at) => at.wait(1),
      then: ["call.failed a cancelled final", "turn.failed summary_failed a:summary_timeout"],
    },
  ]);

  it("leaves the head where it is", () => {
    const at = new World(whole);
    at.ask();
    at.give(cancel);
    at.give({
      type: "turn_requested",
      kind: "compact",
      rules: null,
      question: "",
      parentTurn: 1,
      history: whole.history,
      budget: {},
      timeoutMs: null,
    });
    expect(at.state).toMatchObject({ head: 1, turns: 2 });
  });
});
