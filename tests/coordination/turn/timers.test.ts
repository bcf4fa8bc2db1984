import { describe, expect, it } from "vitest";
import {
  decide,
  EMPTY_WORLD,
  emptySession,
  eventsOf,
  failInternally,
  nextTimerAt,
  owed,
} from "../../../src/coordination";
import { answers, fails, rejects, says, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import { eventLines } from "../event-lines";
import { START, World, type WorldOptions } from "../world";

type Case = {
  name: string;
  world?: WorldOptions;
  given?: (world: World) => void;
  at: number | null;
};

/** Coordination ends 120 s before the deadline at 1,000 s. */
const COORDINATION_ENDS = 880_000;

const allVoteForA = (world: World): void => {
  allAnswer(world);
  for (const id of world.ids) world.does(id, votes("a"));
};

describe("the next timer", () => {
  const cases: Case[] = [
    { name: "is the end of the first rounds, including the time for decisions", at: 660_000 },
    {
      name: "is the end of coordination, 120 s before the deadline, when all have answered",
      given: allAnswer,
      at: COORDINATION_ENDS,
    },
    {
      name: "is the end of coordination, which is after four fifths of the time if the time is short",
      world: { rules: { orchestrator_timeout_ms: 100_000 } },
      given: allAnswer,
      at: 80_000,
    },
    {
      name: "is the end of the grace time",
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
      },
      at: 250,
    },
    {
      name: "is not the end of the grace time if voting is deferred until all have answered",
      world: { rules: { defer_voting_until_all_answered: true } },
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
      },
      at: 660_000,
    },
    {
      name: "is the next try of a failed call, even if the budget deferred another call before",
      world: { agents: ["a", "b"], budget: { max_tokens: 20_000 } },
      given: (world) => {
        world.starts("a");
        world.inputTokens = 16_000;
        world.starts("b");
        world.does("a", says("hm"));
        world.does("b", fails({ retryAfterMs: 20_000, reached: true }));
      },
      at: 20_000,
    },
    {
      name: "is the next try of a failed call",
      given: (world) => world.does("a", fails({ retryAfterMs: 20_000 })),
      at: 20_000,
    },
    {
      name: "is not a try that is already due, so that the same timer cannot fire again and again",
      given: (world) => {
        world.does("a", fails({ retryAfterMs: 20_000 }));
        world.wait(20_000);
      },
      at: 660_000,
    },
    { name: "is the deadline in the presentation", given: allVoteForA, at: 1_000_000 },
    {
      name: "is the end of coordination during a verdict",
      world: { rules: { max_orchestration_restarts: 1 } },
      given: (world) => {
        allVoteForA(world);
        world.does("a", says("Final."));
      },
      at: COORDINATION_ENDS,
    },
    {
      name: "is the end of the time for personas",
      world: { rules: { personas: true } },
      at: 88_000,
    },
    {
      name: "is not a time limit of a failed agent",
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
        world.does("c", fails({ class: "bad_credentials", code: "invalid_key" }));
      },
      at: COORDINATION_ENDS,
    },
    {
      name: "is `null` when no turn runs",
      given: (world) => world.give({ type: "cancel_requested" }),
      at: null,
    },
  ];

  it.each(cases)("$name", ({ world: options, given, at }) => {
    const world = new World(options);
    world.ask();
    given?.(world);
    expect(nextTimerAt(world.state, world.now)).toBe(at === null ? null : START + at);
  });

  it("is not a handled timer again if the clock is set back", () => {
    const world = new World();
    world.ask();
    world.does("a", fails({ retryAfterMs: 20_000 }));
    world.wait(20_000);
    world.does("b", answers("B"));
    expect(nextTimerAt(world.state, START)).toBe(START + 660_000);
  });

  it("is in the past if its time passed without an input", () => {
    const world = new World();
    world.ask();
    allAnswer(world);
    expect(nextTimerAt(world.state)).toBe(START + COORDINATION_ENDS);
    world.now = START + 2_000_000;
    expect(eventLines(world.give({ type: "clock" }))).toEqual([
      "attempt.settled deadline c agent3.1",
      "presentation.started c agent3.1",
      "presentation.completed c agent3.final answer deadline",
      "turn.completed c agent3.final deadline",
    ]);
  });
});

describe("the clock of a session", () => {
  it("keeps its last value in the log if it is set back", () => {
    const world = new World();
    world.now = START + 5_000;
    world.ask();
    world.now = START;
    world.does("a", answers("A"));
    expect(new Set(world.log.map(({ at }) => at))).toEqual(new Set([START + 5_000]));
  });

  it("is compared with the deadlines at every input, so a late reply does not count", () => {
    const world = new World();
    world.ask();
    allAnswer(world);
    world.starts("a");
    world.now = START + COORDINATION_ENDS;
    expect(
      eventLines(
        world.give({ type: "call_replied", effect: world.callOf("a"), reply: lateVote(world) }),
      ),
    ).toEqual([
      "call.failed a cancelled final",
      "attempt.settled deadline c agent3.1",
      "presentation.started c agent3.1",
    ]);
  });

  const lateVote = (world: World) => {
    const { what } = votes("b")({ id: "a", alias: world.alias, nth: 1 });
    if (!what || !("reply" in what)) throw new Error("not a reply");
    return what.reply;
  };
});

describe("the deadline", () => {
  table([
    {
      name: "of coordination makes partial texts answers, and the longest wins if no answer is complete",
      world: { rules: { initial_round_timeout_ms: 1_000_000 } },
      given: (world) => {
        world.starts("b");
        world.writing = { a: "short", b: "a longer text", c: "as long text." };
        world.wait(COORDINATION_ENDS - 1);
      },
      when: (world) => world.wait(1),
      then: [
        "call.failed b cancelled final",
        "answer.submitted a agent1.1 partial",
        "answer.submitted b agent2.1 partial",
        "answer.submitted c agent3.1 partial",
        "attempt.settled deadline b agent2.1",
        "presentation.started b agent2.1",
      ],
    },
    {
      name: "of coordination without any text fails the turn",
      world: { agents: ["a"], rules: { initial_round_timeout_ms: 1_000_000 } },
      when: (world) => world.wait(COORDINATION_ENDS),
      then: ["attempt.settled deadline - -", "turn.failed no_answer a:deadline"],
    },
    {
      name: "that has passed ends the turn at the next request, which starts the next turn",
      world: { agents: ["a"] },
      given: (world) => {
        world.now = START + 2_000_000;
      },
      when: (world) => world.ask(),
      then: [
        "attempt.settled deadline - -",
        "turn.failed no_answer a:deadline",
        "turn.started",
        "attempt.started 1",
        "round.started a #1 first []",
      ],
    },
    {
      name: "allows another attempt when the presenter rejects its text in time",
      world: { agents: ["a"], rules: { skip_coordination: true, max_orchestration_restarts: 1 } },
      given: (world) => world.does("a", says("Final.")),
      when: (world) => world.does("a", rejects("no", "again")),
      then: [
        "call.completed a",
        "attempt.restarted a",
        "attempt.started 2",
        "attempt.settled skipped a -",
        "presentation.started a -",
      ],
    },
  ]);
});

describe("an internal error", () => {
  it("ends the turn after all effects in flight are settled", () => {
    const world = new World();
    world.ask();
    world.starts("a");
    world.starts("b");
    const events = eventsOf(failInternally(world.state, START + 1));
    expect(eventLines(events)).toEqual([
      "call.failed a cancelled final",
      "call.failed b cancelled final",
      "turn.failed internal",
    ]);
    expect(events.at(-1)).toMatchObject({ cost_usd: expect.closeTo(0.018, 12) });
  });

  it("ends even a turn with an invalid state, and charges its reservations", () => {
    const world = new World();
    world.ask();
    world.starts("a");
    const turn = { ...world.turn, attempt: { ...world.turn.attempt, agents: [] } };
    const events = eventsOf(failInternally({ ...world.state, turn }, START + 1));
    expect(eventLines(events)).toEqual(["turn.failed internal"]);
    expect(events.at(-1)).toMatchObject({ cost_usd: expect.closeTo(0.009, 12) });
  });

  it("has no effect if no turn runs", () => {
    expect(failInternally(emptySession, START)).toEqual([]);
  });
});

it("an internal error is not logged with an earlier time than the last event", () => {
  const world = new World();
  world.ask();
  const timesAt = (at: number) =>
    eventsOf(failInternally(world.state, at)).map((event) => event.at);
  expect(timesAt(START - 5_000)).toEqual([START]);
  expect(timesAt(START + 5_000)).toEqual([START + 5_000]);
});

it("a turn requested during another turn is ignored", () => {
  const world = new World();
  world.ask();
  expect(world.ask("And now?")).toEqual([]);
});

describe("a late input", () => {
  const bodies = [
    { type: "call_ready", effect: "call_1_1_1_1_1_1", inputTokens: 1 },
    { type: "tool_ready", effect: "tool_1_1_1_1_x" },
    { type: "tool_settled", effect: "tool_1_1_1_1_x", outcome: "ok" },
    { type: "effect_interrupted", effect: "call_1_1_1_1_1_1" },
    { type: "effect_interrupted", effect: "__proto__" },
    { type: "cancel_requested" },
    { type: "clock" },
  ] as const;

  it.each(bodies)("changes nothing before the first turn: $type $effect", (body) => {
    expect(decide(emptySession, { ...body, at: START, seed: 1 }, EMPTY_WORLD)).toEqual([]);
    expect(owed(emptySession)).toEqual([]);
  });

  it.each(bodies.filter(({ type }) => type !== "cancel_requested" && type !== "call_ready"))(
    "changes nothing in a turn without its effect: $type $effect",
    (body) => {
      const world = new World();
      world.ask();
      expect(world.give(body)).toEqual([]);
    },
  );
});

describe("the failure message is correct for an agent", () => {
  const patient = { initial_round_timeout_ms: 1_000_000 };
  it.each<{ name: string; world: WorldOptions; given?: (world: World) => void; message: string }>([
    {
      name: "whose call was in flight at the deadline",
      world: { rules: patient },
      given: (world) => world.starts("a"),
      message: "Time was up before it wrote anything.",
    },
    {
      name: "whose calls failed before the deadline",
      world: { rules: patient },
      given: (world) => {
        for (let round = 0; round < 2; round += 1) {
          world.does(
            "a",
            fails({ class: "quota", code: "quota", message: `The quota is used up ${round}.` }),
          );
        }
      },
      message: "Time was up before it wrote anything.",
    },
    {
      name: "whose failed tries used up the budget",
      world: { agents: ["a"], budget: { max_tokens: 4_000 } },
      given: (world) => {
        world.does(
          "a",
          fails({ code: "connection_failed", message: "The connection was lost.", reached: true }),
        );
        world.wait(60_000);
        world.starts("a");
      },
      message: "The budget was used up before it wrote anything.",
    },
    {
      name: "whose first call was not sent before the deadline",
      world: { rules: patient },
      message: "Time was up before its first call could be sent.",
    },
    {
      name: "that could not pay for its first call",
      world: { agents: ["a"], budget: { max_cost_usd: 0 } },
      given: (world) => world.starts("a"),
      message: "The budget had no room for its first call.",
    },
    {
      name: "whose call was in flight at the end of the first round's time",
      world: {},
      given: (world) => world.starts("a"),
      message: "It gave no first answer in time.",
    },
    {
      name: "whose first call was not sent before the end of the first round's time",
      world: {},
      message: "Its first call could not be sent in time.",
    },
  ])("$name", ({ world: options, given, message }) => {
    const world = new World({ agents: ["a"], ...options });
    world.ask();
    given?.(world);
    if (world.events("turn.failed").length === 0) world.wait(COORDINATION_ENDS);
    expect(world.events("turn.failed")).toMatchObject([{ agents: [{ agent: "a", message }] }]);
  });
});
