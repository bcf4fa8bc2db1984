import { describe, expect, it } from "vitest";
import { offersOf } from "../../../src/coordination";
import { answers, fails, says, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import { eventLines } from "../event-lines";
import { START, World } from "../world";

describe("rounds", () => {
  it("start for all agents at once, after the turn has drawn the aliases", () => {
    const world = new World();
    expect(eventLines(world.ask())).toEqual([
      "session.created",
      "turn.started",
      "attempt.started 1",
      "round.started a #1 first []",
      "round.started b #1 first []",
      "round.started c #1 first []",
    ]);
    expect(world.owes()).toEqual(["call a", "call b", "call c"]);
    expect([...world.turn.aliases].sort()).toEqual(["agent1", "agent2", "agent3"]);
  });

  it("have random aliases and orders, which are equal for equal seeds", () => {
    const draw = (seed: number) => {
      const world = new World({ seed });
      world.ask();
      allAnswer(world);
      return JSON.stringify([
        world.turn.aliases,
        world.events("round.started").map(({ labels }) => labels),
      ]);
    };
    const seeds = Array.from({ length: 40 }, (_, seed) => seed * 7919);
    expect(draw(5)).toBe(draw(5));
    expect(new Set(seeds.map(draw)).size).toBeGreaterThan(30);
  });

  it("offer only `new_answer` before the first answer, also `vote` after it, and only `vote` at a limit", () => {
    const world = new World({ agents: ["a", "b"], rules: { max_new_answers_per_agent: 2 } });
    const offers = () => offersOf(world.turn, world.agent("a"));
    world.ask();
    expect(offers()).toEqual(["new_answer"]);
    allAnswer(world);
    expect(offers()).toEqual(["new_answer", "vote"]);
    world.does("a", answers("A2"));
    expect(offers()).toEqual(["vote"]);
  });

  it("offer `new_answer` again as soon as a lead limit no longer applies", () => {
    const world = new World({ agents: ["a", "b"], rules: { fairness_lead_cap_answers: 0 } });
    world.ask();
    allAnswer(world);
    expect(eventLines(world.starts("a"))).toEqual(["call.started a vote"]);
    world.does("b", votes("a"));
    world.does("a", says("hm"));
    expect(eventLines(world.starts("a"))).toEqual(["call.started a new_answer|vote forced"]);
  });

  it("force a decision after a reminder, if the provider supports it", () => {
    const world = new World({ each: { b: { forces_tools: false } } });
    world.ask();
    world.does("a", says("I think"));
    world.does("b", says("I think"));
    expect(eventLines([...world.starts("a"), ...world.starts("b")])).toEqual([
      "call.started a new_answer forced",
      "call.started b new_answer",
    ]);
  });
});

it.each([
  {
    name: "an agent with a workspace starts its round with the files from the start of the turn",
    workspace: true,
    expected: "base",
  },
  {
    name: "an agent without a workspace starts its round without files",
    workspace: false,
    expected: null,
  },
])("$name", ({ workspace, expected }) => {
  const world = new World({ every: { workspace } });
  world.ask();
  expect(world.events("round.started").map((event) => event.workspace)).toEqual([
    expected,
    expected,
    expected,
  ]);
});

it("the event of a completed call has no decisions if the reply has no tools, because they count at once", () => {
  const world = new World();
  world.ask();
  world.does("a", answers("A"));
  expect(world.events("call.completed")).toMatchObject([{ tools: [], decisions: [] }]);
});

describe("the wait after a first answer", () => {
  table([
    {
      name: "continues while a live agent has no answer",
      when: (world) => world.does("a", answers("A")),
      then: ["call.completed a", "answer.submitted a agent1.1"],
      owes: ["call b", "call c"],
    },
    {
      name: "ends for all agents at once when the last agent gives its first answer",
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
      },
      when: (world) => world.does("c", answers("C")),
      then: [
        "call.completed c",
        "answer.submitted c agent3.1",
        "round.started a #2 answered [agent1.1 agent2.1 agent3.1]",
        "round.started b #2 answered [agent1.1 agent2.1 agent3.1]",
        "round.started c #2 answered [agent1.1 agent2.1 agent3.1]",
      ],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "ends after a grace time: 10 % of the attempt's time up to the team's second answer",
      given: (world) => {
        world.does("a", answers("A"));
        world.wait(20_000);
        world.does("b", answers("B"));
        world.wait(1_999);
      },
      when: (world) => world.wait(1),
      then: [
        "round.started a #2 answered [agent1.1 agent2.1]",
        "round.started b #2 answered [agent1.1 agent2.1]",
      ],
    },
    {
      name: "has a grace time of at least 250 ms",
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
        world.wait(249);
      },
      when: (world) => world.wait(1),
      then: [
        "round.started a #2 answered [agent1.1 agent2.1]",
        "round.started b #2 answered [agent1.1 agent2.1]",
      ],
    },
    {
      name: "has a grace time of at most 5 s",
      given: (world) => {
        world.does("a", answers("A"));
        world.wait(400_000);
        world.does("b", answers("B"));
        world.wait(4_999);
      },
      when: (world) => world.wait(1),
      then: [
        "round.started a #2 answered [agent1.1 agent2.1]",
        "round.started b #2 answered [agent1.1 agent2.1]",
      ],
    },
    {
      name: "has no grace time before the second answer",
      given: (world) => world.does("a", answers("A")),
      when: (world) => world.wait(599_999),
      then: [],
      owes: ["call b", "call c"],
    },
    {
      name: "has no grace time if voting is deferred until all have answered",
      world: { rules: { defer_voting_until_all_answered: true } },
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
      },
      when: (world) => world.wait(500_000),
      then: [],
    },
    {
      name: "ends when the only agent without an answer has failed",
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
      },
      when: (world) => world.does("c", fails({ class: "bad_credentials", code: "invalid_key" })),
      then: [
        "call.failed c bad_credentials final",
        "agent.failed c invalid_key",
        "round.started a #2 answered [agent1.1 agent2.1]",
        "round.started b #2 answered [agent1.1 agent2.1]",
      ],
    },
    {
      name: "does not begin again after a second answer of the same agent",
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
        world.wait(250);
      },
      when: (world) => world.does("a", answers("A2")),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2",
        "round.started a #3 answered [agent1.2 agent2.1]",
      ],
    },
    {
      name: "ends without a late agent, which sees the others' answers only after its own",
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
        world.wait(250);
        world.does("a", votes("b"));
      },
      when: (world) => world.does("c", answers("C")),
      then: [
        "call.completed c",
        "answer.submitted c agent3.1",
        "votes.cleared by agent3.1 a→agent2.1",
        "answers.injected a [agent3.1] reopened",
        "round.started c #2 answered [agent1.1 agent2.1 agent3.1]",
      ],
    },
  ]);
});

describe("the first round's time", () => {
  const rules = { initial_round_timeout_ms: 60_000 };
  table([
    {
      name: "ends with the partial text as the agent's answer",
      world: { rules },
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
        world.starts("c");
        world.wait(119_999);
        world.writing = { c: "  what there is " };
      },
      when: (world) => world.wait(1),
      then: [
        "call.failed c cancelled final",
        "answer.submitted c agent3.1 partial",
        "round.started c #2 answered [agent1.1 agent2.1 agent3.1]",
      ],
    },
    {
      name: "ends with the failure of an agent that wrote nothing",
      world: { rules },
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
        world.wait(119_999);
      },
      when: (world) => world.wait(1),
      then: ["agent.failed c initial_round_timeout"],
    },
    {
      name: "is no limit for an agent with an answer",
      world: { agents: ["a", "b"], rules },
      given: allAnswer,
      when: (world) => world.wait(200_000),
      then: [],
      owes: ["call a", "call b"],
    },
    {
      name: "includes the rounds that follow a failed first round",
      world: { agents: ["a", "b"], rules },
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", fails({ class: "quota", code: "quota" }));
      },
      when: (world) => world.wait(120_000),
      then: ["agent.failed b initial_round_timeout", "round.started a #2 answered [agent1.1]"],
    },
  ]);

  it("ends with a partial text that is cut at 128 KB, but not inside a character", () => {
    const world = new World({ rules });
    world.ask();
    world.writing = { a: `x${"é".repeat(100_000)}` };
    world.wait(120_000);
    const [answer] = world.events("answer.submitted");
    expect(answer?.content).toBe(`x${"é".repeat(65_535)}`);
    expect(answer?.at).toBe(START + 120_000);
  });
});
