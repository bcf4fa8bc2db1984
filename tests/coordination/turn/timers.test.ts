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

const agree = (world: World): void => {
  allAnswer(world);
  for (const id of world.ids) world.does(id, votes("a"));
};

describe("the next timer", () => {
  const cases: Case[] = [
    { name: "is the end of the first rounds, with the time for their decisions", at: 660_000 },
    {
      name: "is the end of coordination, 120 s before the deadline, when all have answered",
      given: allAnswer,
      at: COORDINATION_ENDS,
    },
    {
      name: "is the end of coordination, a fifth of the time before a near deadline",
      world: { rules: { orchestrator_timeout_ms: 100_000 } },
      given: allAnswer,
      at: 80_000,
    },
    {
      name: "is the end of the grace",
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
      },
      at: 250,
    },
    {
      name: "is not the grace if voting is deferred until all have answered",
      world: { rules: { defer_voting_until_all_answered: true } },
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
      },
      at: 660_000,
    },
    {
      name: "is the next try of a call that was once deferred by the budget",
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
      name: "is no longer the next try once that is due, so that it cannot fire forever",
      given: (world) => {
        world.does("a", fails({ retryAfterMs: 20_000 }));
        world.wait(20_000);
      },
      at: 660_000,
    },
    { name: "is the deadline in the presentation", given: agree, at: 1_000_000 },
    {
      name: "is the end of coordination during a verdict",
      world: { rules: { max_orchestration_restarts: 1 } },
      given: (world) => {
        agree(world);
        world.does("a", says("Final."));
      },
      at: COORDINATION_ENDS,
    },
    { name: "is the end of the personas", world: { rules: { personas: true } }, at: 88_000 },
    {
      name: "is not a failed agent's",
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
        world.does("c", fails({ class: "bad_credentials", code: "invalid_key" }));
      },
      at: COORDINATION_ENDS,
    },
    {
      name: "does not exist when nothing runs",
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

  it("does not come back when the clock runs backwards", () => {
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

describe("a clock", () => {
  it("that runs backwards keeps its last value in the log", () => {
    const world = new World();
    world.now = START + 5_000;
    world.ask();
    world.now = START;
    world.does("a", answers("A"));
    expect(new Set(world.log.map(({ at }) => at))).toEqual(new Set([START + 5_000]));
  });

  it("is checked at every input: late inputs do not count", () => {
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
      name: "of coordination makes partial texts answers, of which the longest wins if no other is there",
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
      name: "that passed lets the next turn start with the same input",
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
      name: "does not delay the next attempt when the presenter rejects in time",
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
  it("ends the turn, with everything in flight settled", () => {
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

  it("ends even a turn with a broken state, and charges its reservations", () => {
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

it("an internal error is never logged with an earlier time than the last event", () => {
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

  it.each(bodies)("changes nothing before any turn: $type $effect", (body) => {
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

describe("the failure message is correct for an agent without an answer", () => {
  const patient = { initial_round_timeout_ms: 1_000_000 };
  it.each<{ name: string; world: WorldOptions; given?: (world: World) => void; message: string }>([
    {
      name: "that was called until the time was up",
      world: { rules: patient },
      given: (world) => world.starts("a"),
      message: "Time was up before it wrote anything.",
    },
    {
      name: "whose calls failed until the time was up",
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
      name: "whose lost tries were charged until the budget was used up",
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
      name: "that was never called until the time was up",
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
      name: "that was called until its first round was over",
      world: {},
      given: (world) => world.starts("a"),
      message: "It gave no first answer in time.",
    },
    {
      name: "that was never called until its first round was over",
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
