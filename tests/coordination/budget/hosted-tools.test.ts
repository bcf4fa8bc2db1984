import { knownUsd } from "../../../src/protocol/cost";
import { describe, expect, it } from "vitest";
import type { Reply } from "../../../src/coordination";
import type { Purpose } from "../../../src/protocol/events";
import type { Budget, HostedToolRule } from "../../../src/protocol/team";
import { answers, rejects, says, used, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import { World, type WorldOptions } from "../world";

const tool = (
  name: HostedToolRule["name"],
  changes: Partial<HostedToolRule> = {},
): HostedToolRule => ({
  name,
  max_uses: 4,
  usd_per_use: 0.01,
  tokens_per_use: 500,
  ...changes,
});
const search = tool("web_search");
const code = tool("code_execution", { max_uses: 2, usd_per_use: 0, tokens_per_use: 100 });

/**
 * What one agent's first call may use and reserves. The call has 1,000 tokens of input and at most
 * 4,000 of output. A million tokens cost $1 (input), $0.5 (cached input) and $2 (output).
 */
function firstCall(
  hosted_tools: HostedToolRule[],
  budget: Budget = {},
  options: WorldOptions = {},
) {
  const world = new World({
    agents: ["a"],
    ...options,
    every: { hosted_tools, ...options.every },
    budget,
  });
  world.ask();
  const [event] = world.starts("a");
  if (event?.type !== "call.started") return event?.type;
  const uses = Object.fromEntries(
    (event.hosted_tools ?? []).map(({ name, max_uses }) => [name, max_uses]),
  );
  return {
    uses,
    output: event.max_output_tokens,
    tokens: event.reserved.tokens,
    usd: knownUsd(event.reserved),
  };
}
const usd = (value: number): unknown => expect.closeTo(value, 12);

describe("a call of an agent with hosted tools", () => {
  it.each<{
    name: string;
    hosted: HostedToolRule[];
    budget?: Budget;
    options?: WorldOptions;
    expected: unknown;
  }>([
    {
      name: "reserves the price of every use, and the input tokens of their results",
      hosted: [search],
      expected: { uses: { web_search: 4 }, output: 4_000, tokens: 7_000, usd: usd(0.051) },
    },
    {
      name: "reserves each use of several tools at the highest price, because a provider may limit only their sum",
      hosted: [search, code],
      expected: {
        uses: { web_search: 4, code_execution: 2 },
        output: 4_000,
        tokens: 8_000,
        usd: usd(0.072),
      },
    },
    {
      name: "reserves the price of one tool and the tokens of another, if each is the highest",
      hosted: [search, tool("code_execution", { usd_per_use: 0.03, tokens_per_use: 100 })],
      expected: {
        uses: { web_search: 4, code_execution: 4 },
        output: 4_000,
        tokens: 9_000,
        usd: usd(0.253),
      },
    },
    {
      name: "gets as many uses as leave a useful reply within a cap in tokens",
      hosted: [search],
      budget: { max_tokens: 3_100 },
      expected: { uses: { web_search: 2 }, output: 1_100, tokens: 3_100, usd: usd(0.0242) },
    },
    {
      name: "gets as many uses as leave a useful reply within a cap in money",
      hosted: [search],
      budget: { max_cost_usd: 0.036001 },
      expected: { uses: { web_search: 3 }, output: 1_750, tokens: 4_250, usd: usd(0.036) },
    },
    {
      name: "gets the same lower number of uses for all its tools",
      hosted: [search, code],
      budget: { max_tokens: 4_050 },
      expected: {
        uses: { web_search: 2, code_execution: 2 },
        output: 1_050,
        tokens: 4_050,
        usd: usd(0.0451),
      },
    },
    {
      name: "is not offered a tool that would leave no useful reply",
      hosted: [search],
      budget: { max_tokens: 2_500 },
      expected: { uses: {}, output: 1_500, tokens: 2_500, usd: usd(0.004) },
    },
    {
      name: "gets less than a useful reply only when it already has no uses",
      hosted: [search],
      budget: { max_tokens: 1_500 },
      expected: { uses: {}, output: 500, tokens: 1_500, usd: usd(0.002) },
    },
    {
      name: "keeps its uses if its model's output limit is below a useful reply",
      hosted: [search],
      budget: { max_tokens: 3_200 },
      options: { every: { max_output_tokens: 200 } },
      expected: { uses: { web_search: 4 }, output: 200, tokens: 3_200, usd: usd(0.0434) },
    },
    {
      name: "is not offered a tool of unknown price under a cap in money",
      hosted: [tool("web_search", { usd_per_use: null }), code],
      budget: { max_cost_usd: 1 },
      expected: { uses: { code_execution: 2 }, output: 4_000, tokens: 5_200, usd: usd(0.0092) },
    },
    {
      name: "may use a tool of unknown price without a cap in money",
      hosted: [tool("web_search", { usd_per_use: null })],
      budget: { max_tokens: 100_000 },
      expected: { uses: { web_search: 4 }, output: 4_000, tokens: 7_000, usd: usd(0.011) },
    },
    {
      name: "gets no uses that would need the shares of other calls",
      hosted: [search],
      budget: { max_tokens: 6_000 },
      options: { agents: ["a", "b", "c"] },
      expected: { uses: {}, output: 1_024, tokens: 2_024, usd: usd(0.003048) },
    },
    {
      name: "reserves the price of cache writes for all its input if this price is the highest",
      hosted: [code],
      options: { every: { price: { input: 1, cached_input: 0.5, cache_write: 1.5, output: 2 } } },
      expected: { uses: { code_execution: 2 }, output: 4_000, tokens: 5_200, usd: usd(0.0098) },
    },
    {
      name: "of a model without a known price reserves its tools' cost",
      hosted: [search],
      options: { every: { price: null } },
      expected: { uses: { web_search: 4 }, output: 4_000, tokens: 7_000, usd: usd(0.04) },
    },
    {
      name: "is not offered a tool with zero uses",
      hosted: [tool("web_search", { max_uses: 0 })],
      expected: { uses: {}, output: 4_000, tokens: 5_000, usd: usd(0.009) },
    },
  ])("$name", ({ hosted, budget, options, expected }) => {
    expect(firstCall(hosted, budget, options)).toEqual(expected);
  });

  it("lists its hosted tools in `call.started`, which has no list without hosted tools", () => {
    const world = new World({ agents: ["a", "b"], each: { a: { hosted_tools: [search] } } });
    world.ask();
    expect(world.starts("a")).toMatchObject([
      { hosted_tools: [{ name: "web_search", max_uses: 4 }] },
    ]);
    expect(world.starts("b")[0]).not.toHaveProperty("hosted_tools");
  });

  it("has hosted tools in coordination and presentation, not for a verdict or personas", () => {
    const world = new World({
      agents: ["a"],
      every: { hosted_tools: [search] },
      rules: { personas: true, max_orchestration_restarts: 1 },
    });
    world.ask();
    world.does("a", says("no personas"));
    world.does("a", answers("A"));
    world.does("a", votes("a"));
    world.does("a", says("Final."));
    world.does("a", rejects("thin", "more"));
    const hasTools = world
      .events("call.started")
      .map(({ purpose, hosted_tools }): [Purpose, boolean] => [purpose, !!hosted_tools]);
    expect(hasTools).toEqual([
      ["personas", false],
      ["coordination", true],
      ["coordination", true],
      ["presentation", true],
      ["judgement", false],
    ]);
  });
});

describe("a settled call", () => {
  const charge = (usage: Partial<Reply["usage"]>, price = {}) => {
    const prices = { input: 1, cached_input: 0.5, output: 2, ...price };
    const world = new World({
      agents: ["a"],
      every: { hosted_tools: [search, code], price: prices },
    });
    world.ask();
    world.does("a", says("hm", { usage: { ...used(1_000, 100, 400), ...usage } }));
    return world.turn.spentUsd;
  };

  it.each([
    { name: "pays cached input at its price", usage: {}, expected: 0.001 },
    {
      name: "pays cache writes at their price",
      usage: { cache_write_tokens: 200 },
      price: { cache_write: 3 },
      expected: 0.0014,
    },
    {
      name: "pays cache writes as uncached input if they have no price",
      usage: { cache_write_tokens: 200 },
      expected: 0.001,
    },
    {
      name: "pays each use of a hosted tool",
      usage: { hosted_uses: { web_search: 3, code_execution: 1 } },
      expected: 0.031,
    },
    {
      name: "pays nothing for a tool without a price",
      usage: { hosted_uses: { x_search: 5 } },
      expected: 0.001,
    },
  ])("$name", ({ usage, price, expected }) => {
    expect(charge(usage, price)).toBeCloseTo(expected, 12);
  });

  it("adds cache writes and uses to the turn's usage", () => {
    const world = new World({ agents: ["a"], every: { hosted_tools: [search] } });
    world.ask();
    for (const web_search of [1, 2]) {
      world.does(
        "a",
        says("hm", {
          usage: { ...used(10, 5), cache_write_tokens: 4, hosted_uses: { web_search } },
        }),
      );
    }
    expect(world.turn.usage).toEqual({
      ...used(20, 10),
      cache_write_tokens: 8,
      hosted_uses: { web_search: 3 },
    });
  });
});

const searchReport: Partial<Reply> = {
  hosted: [
    { name: "web_search", input: "passes", outcome: "ok", output: "three" },
    { name: "web_search", input: "fords", outcome: "error", output: "" },
  ],
  citations: [{ url: "https://a.example/", title: "A" }],
};
const reportEvents = ["hosted_tool.completed a", "hosted_tool.completed a", "citations.added a"];

describe("the report of hosted tools", () => {
  table([
    {
      name: "is logged before the call completes and before the decision of the reply counts",
      world: { agents: ["a"] },
      when: (world) => world.does("a", answers("A", searchReport)),
      then: [
        ...reportEvents,
        "call.completed a",
        "answer.submitted a agent1.1",
        "round.started a #2 answered [agent1.1]",
      ],
    },
    {
      name: "counts neither as a decision nor as a use of the agent's own tools",
      world: { agents: ["a"] },
      when: (world) => world.does("a", says("I looked it up.", searchReport)),
      then: [...reportEvents, "call.completed a", "round.nudged a 1"],
      owes: ["call a"],
    },
    {
      name: "is logged for a reply that was cut",
      world: { agents: ["a"] },
      when: (world) => world.does("a", says("I looked", { ...searchReport, stopReason: "length" })),
      then: [...reportEvents, "call.completed a", "round.nudged a 1"],
    },
    {
      name: "is logged before the final text in the same reply",
      world: { agents: ["a"], rules: { skip_coordination: true } },
      when: (world) => world.does("a", says("Final.", searchReport)),
      then: [
        ...reportEvents,
        "call.completed a",
        "presentation.completed a agent1.final presentation",
        "turn.completed a agent1.final skipped",
      ],
    },
    {
      name: "is not logged if it is empty",
      world: { agents: ["a"] },
      when: (world) => world.does("a", says("hm", { hosted: [], citations: [] })),
      then: ["call.completed a", "round.nudged a 1"],
    },
  ]);

  it("is not logged for a late reply", () => {
    const world = new World({ agents: ["a", "b"] });
    world.ask();
    allAnswer(world);
    world.starts("a");
    const effect = world.callOf("a");
    world.give({ type: "cancel_requested" });
    const { what } = says("late", searchReport)({ id: "a", alias: world.alias, nth: 9 });
    expect(
      what && "reply" in what && world.give({ type: "call_replied", effect, ...what }),
    ).toEqual([]);
  });
});
