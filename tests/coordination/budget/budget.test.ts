import { knownUsd } from "../../../src/protocol/cost";
import { describe, expect, it } from "vitest";
import { owed } from "../../../src/coordination";
import { minCallUsd } from "../../../src/coordination/budget/budget";
import { agentRules } from "../../builders/team-rules";
import { answers, fails, hangs, improves, says, used, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import { World } from "../world";

const two = { agents: ["a", "b"] };

describe("a call's reservation", () => {
  it("is the sum of its input bound and its output cap, at the agent's prices", () => {
    const world = new World();
    world.ask();
    expect(world.starts("a")).toMatchObject([
      {
        max_output_tokens: 4_000,
        reserved: { tokens: 5_000, cost_usd: expect.closeTo(0.009, 12) },
      },
    ]);
  });

  it("uses the price of cached input if it is above the price of uncached input", () => {
    const world = new World({ every: { price: { input: 0, cached_input: 3, output: 2 } } });
    world.ask();
    expect(world.starts("a")).toMatchObject([
      { reserved: { cost_usd: expect.closeTo(0.011, 12) } },
    ]);
  });

  it("is replaced by the reported usage, with cached tokens at their own price", () => {
    const world = new World();
    world.ask();
    world.does("a", answers("A", { usage: used(1_000, 500, 600) }));
    expect(world.turn).toMatchObject({
      spentTokens: 1_500,
      spentUsd: expect.closeTo(0.0017, 12),
      inFlight: {},
    });
  });

  it("stays charged in full if the provider reports no usage", () => {
    const world = new World();
    world.ask();
    world.does("a", answers("A", { usage: null }));
    expect(world.turn).toMatchObject({ spentTokens: 5_000, spentUsd: expect.closeTo(0.009, 12) });
    expect(world.events("call.completed")).toMatchObject([{ usage: { output_tokens: 5_000 } }]);
  });

  it.each([
    { name: "tokens", budget: { max_tokens: 3_000 }, output: 2_000 },
    { name: "money", budget: { max_cost_usd: 0.005 }, output: 2_000 },
  ])("is lowered to fit the cap in $name", ({ budget, output }) => {
    const world = new World({ agents: ["a"], budget });
    world.ask();
    expect(world.starts("a")).toMatchObject([{ max_output_tokens: output }]);
  });

  it("leaves tokens for the other due calls", () => {
    const world = new World({ budget: { max_tokens: 9_000 } });
    world.ask();
    const outputs = ["a", "b", "c"].map((id) => world.starts(id)[0]);
    expect(outputs).toMatchObject([
      { max_output_tokens: 2_000 },
      { max_output_tokens: 2_000 },
      { max_output_tokens: 2_000 },
    ]);
  });

  it("leaves money for the other due calls", () => {
    const world = new World({ budget: { max_cost_usd: 0.018 } });
    world.ask();
    const outputs = ["a", "b", "c"].flatMap((id) => world.starts(id));
    // Rounding in the division may make this slightly less.
    const thirdOfCap = { max_output_tokens: expect.closeTo(2_500, -1) };
    expect(outputs).toMatchObject([thirdOfCap, thirdOfCap, thirdOfCap]);
  });

  it.each([
    // Reserved in millionths of a dollar: (4,000 + 13 bytes of question + 3 of answers) x 10
    // + 2,048 x 20. The three due calls share the rest of the cap.
    { name: "the most expensive candidate's presentation", voted: false, output: 2_246 },
    // The reason adds 3 x 8 tokens, and two calls are due.
    { name: "its vote reasons", voted: true, output: 3_510 },
  ])("leaves money for $name", ({ voted, output }) => {
    const costly = { price: { input: 10, cached_input: 5, output: 20 } };
    const world = new World({ each: { b: costly }, budget: { max_cost_usd: 0.1 } });
    world.ask();
    allAnswer(world);
    if (voted) world.does("c", votes("a"));
    expect(world.starts("a")).toMatchObject([{ max_output_tokens: expect.closeTo(output, -1) }]);
  });

  it("of the presentation may use all of the remaining budget", () => {
    const world = new World({ ...two, budget: { max_tokens: 10_000 } });
    world.ask();
    allAnswer(world);
    world.does("a", votes("a"));
    world.does("b", votes("a"));
    expect(world.starts("a")).toMatchObject([
      { purpose: "presentation", max_output_tokens: 4_000 },
    ]);
  });

  it("stays within the cap even if the division rounds up", () => {
    const price = { input: 0.64, cached_input: 0, output: 0.29000000000000004 };
    const world = new World({
      agents: ["a"],
      every: { price, max_output_tokens: 200_000 },
      budget: { max_cost_usd: 0.05584 },
    });
    world.inputTokens = 4_948;
    world.ask();
    const [event] = world.starts("a");
    expect(event).toMatchObject({ max_output_tokens: 181_631 });
    expect(event?.type === "call.started" && knownUsd(event.reserved) <= 0.05584).toBe(true);
  });

  it.each([
    { name: "without a cap is sent", price: null, budget: {}, first: "call.started" },
    {
      name: "within a cap in tokens is sent",
      price: null,
      budget: { max_tokens: 9_000 },
      first: "call.started",
    },
    {
      name: "beyond a cap in tokens is deferred",
      price: null,
      budget: { max_tokens: 0 },
      first: "call.deferred",
    },
    {
      name: "under a cap in money is deferred, however high the cap is",
      price: null,
      budget: { max_cost_usd: 1_000 },
      first: "call.deferred",
    },
    {
      name: "under a cap in money is sent if its price is known to be zero",
      price: { input: 0, cached_input: 0, output: 0 },
      budget: { max_cost_usd: 0 },
      first: "call.started",
    },
  ])("of a model without a known price $name", ({ price, budget, first }) => {
    const world = new World({ agents: ["a"], every: { price }, budget });
    world.ask();
    expect(world.starts("a")[0]?.type).toBe(first);
  });

  it("leaves tokens for the presentation during coordination, and the presentation then uses them", () => {
    const world = new World({ ...two, budget: { max_tokens: 12_000 } });
    world.ask();
    allAnswer(world);
    const reserve = 4_000 + "What is best?".length + 2 + 2_048;
    const [started] = world.starts("a");
    expect(started).toMatchObject({
      max_output_tokens: Math.floor((12_000 - 300 - reserve) / 2 - 1_000),
    });
    world.does("a", votes("a"));
    world.does("b", votes("a"));
    expect(world.starts("a")).toMatchObject([
      { purpose: "presentation", max_output_tokens: 4_000 },
    ]);
  });
});

describe("a call beyond the budget", () => {
  table([
    {
      name: "is deferred while another call has a reservation",
      world: { ...two, budget: { max_tokens: 5_200 } },
      given: (world) => world.starts("a"),
      when: (world) => {
        world.inputTokens = 3_000;
        return world.starts("b");
      },
      then: ["call.deferred b"],
      owes: [],
    },
    {
      name: "is owed again when the other call's reservation is released",
      world: { ...two, budget: { max_tokens: 20_000 } },
      given: (world) => {
        world.starts("a");
        world.inputTokens = 16_000;
        world.starts("b");
      },
      when: (world) => world.does("a", says("hm")),
      then: ["call.completed a", "round.nudged a 1"],
      owes: ["call a", "call b"],
    },
    {
      name: "ends coordination if no other call has a reservation to release",
      world: { ...two, budget: { max_tokens: 5_000 } },
      given: (world) => {
        world.does("a", answers("A", { usage: used(1_000, 3_500) }));
      },
      when: (world) => world.starts("b"),
      then: [
        "call.deferred b",
        "attempt.settled budget a agent1.1",
        "presentation.started a agent1.1",
      ],
      owes: ["call a"],
    },
    {
      name: "does not end coordination while an agent waits to try again",
      world: { ...two, budget: { max_tokens: 5_200 } },
      given: (world) => world.does("a", fails({ retryAfterMs: 10_000 })),
      when: (world) => {
        world.inputTokens = 5_000;
        return world.starts("b");
      },
      then: ["call.deferred b"],
      owes: ["call a in 10000"],
    },
    {
      name: "does not end coordination while other agents wait for the end of the grace time",
      world: { budget: { max_tokens: 20_000 } },
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
        world.inputTokens = 16_000;
      },
      when: (world) => [...world.starts("c"), ...world.wait(250)],
      then: [
        "call.deferred c",
        "round.started a #2 answered [agent1.1 agent2.1]",
        "round.started b #2 answered [agent1.1 agent2.1]",
      ],
      owes: ["call a", "call b"],
    },
    {
      name: "does not end coordination while the round of another agent restarts",
      world: { ...two, budget: { max_tokens: 20_000 } },
      given: (world) => {
        world.starts("b");
        world.inputTokens = 30_000;
        world.starts("a");
      },
      when: (world) => world.does("b", fails({ class: "quota", code: "quota" })),
      then: ["call.failed b quota final", "round.failed b quota", "round.started b #2 failed []"],
      owes: ["call b"],
    },
    {
      name: "ends coordination although another agent has voted",
      world: { ...two, budget: { max_tokens: 20_000 } },
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("b"));
        world.inputTokens = 30_000;
      },
      when: (world) => world.starts("b"),
      then: [
        "call.deferred b",
        "attempt.settled budget b agent2.1 agent2.1:1",
        "presentation.started b agent2.1",
      ],
    },
    {
      name: "in the presentation makes the winning answer the final text",
      world: { ...two, budget: { max_tokens: 5_000 } },
      given: (world) => {
        world.does("a", answers("A", { usage: used(1_000, 3_500) }));
        world.starts("b");
      },
      when: (world) => world.starts("a"),
      then: [
        "call.deferred a",
        "presentation.completed a agent1.final answer budget",
        "turn.completed a agent1.final budget",
      ],
    },
    {
      name: "fails the turn, with a reason for each agent, if no agent wrote any text",
      world: { ...two, budget: { max_cost_usd: 0 } },
      given: (world) => world.starts("a"),
      when: (world) => world.starts("b"),
      then: [
        "call.deferred b",
        "attempt.settled budget - -",
        "turn.failed no_answer a:budget b:budget",
      ],
    },
    {
      name: "without a known price does not prevent the answers of other agents",
      world: { ...two, each: { b: { price: null } }, budget: { max_cost_usd: 1 } },
      given: (world) => world.starts("b"),
      when: (world) => world.does("a", answers("A")),
      then: [
        "call.completed a",
        "answer.submitted a agent1.1",
        "attempt.settled budget a agent1.1",
        "presentation.started a agent1.1",
      ],
      owes: ["call a"],
    },
    {
      name: "that should judge the final text makes this text count",
      world: {
        agents: ["a"],
        rules: { skip_coordination: true, max_orchestration_restarts: 1 },
        budget: { max_tokens: 5_000 },
      },
      given: (world) => {
        world.does("a", says("Final.", { usage: used(1_000, 3_500) }));
      },
      when: (world) => world.starts("a"),
      then: ["call.deferred a", "turn.completed a agent1.final skipped"],
    },
  ]);

  it("keeps its id while it waits", () => {
    const world = new World({ ...two, budget: { max_tokens: 20_000 } });
    world.ask();
    const id = owed(world.state).find(({ agent }) => agent === 1)?.id;
    world.starts("a");
    world.inputTokens = 16_000;
    world.starts("b");
    world.does("a", says("hm"));
    expect(owed(world.state).find(({ agent }) => agent === 1)?.id).toBe(id);
  });
});

describe("the cost of a turn", () => {
  it("is the sum of the charges, and each started call has exactly one charge", () => {
    const world = new World({ budget: { max_cost_usd: 0.2 } });
    world.play({
      a: [improves],
      b: [answers("B"), fails({ reached: true }), votes("a")],
      c: [answers("C"), hangs],
    });
    const calls = [...world.events("call.completed"), ...world.events("call.failed")];
    const charged = calls.reduce((sum, call) => sum + knownUsd(call), 0);
    expect(world.ending).toMatchObject({ cost_usd: expect.closeTo(charged, 9) });
    expect(world.events("call.started")).toHaveLength(calls.length);
    expect(charged).toBeLessThanOrEqual(0.2);
  });
});

it.each([
  {
    name: "the cheapest agent's price for a prompt, the question and a short reply",
    prices: [10, 1],
    usd: (5_000 + 256) / 1e6,
  },
  { name: "nothing, if an agent's price is unknown", prices: [10, null], usd: 0 },
])("a first call costs at least $name", ({ prices, usd }) => {
  const agents = prices.map((rate, index) =>
    agentRules(`a${index}`, {
      price: rate === null ? null : { input: rate, cached_input: rate, output: rate },
    }),
  );
  expect(minCallUsd(agents, 1_000)).toBeCloseTo(usd, 12);
});
