import { describe, expect, it } from "vitest";
import { answers, used } from "./builders";
import { World } from "./world";

const price = {
  input: 1,
  cached_input: 0.5,
  output: 2,
  long_prompt: { above: 10_000, input: 4, cached_input: 2, cache_write: 6, output: 8 },
};
const worldWith = (inputTokens: number, budget = {}) => {
  const world = new World({ agents: ["a"], every: { price, max_output_tokens: 1_000 }, budget });
  world.inputTokens = inputTokens;
  world.ask();
  return world;
};

describe("a model with a higher price for long prompts", () => {
  it.each([
    { name: "reserves at the usual rates up to the limit", inputTokens: 10_000, cost: 0.012 },
    {
      name: "reserves at the highest rate for long prompts above the limit",
      inputTokens: 10_001,
      cost: 0.068006,
    },
  ])("$name", ({ inputTokens, cost }) => {
    expect(worldWith(inputTokens).starts("a")).toMatchObject([
      { reserved: { cost_usd: expect.closeTo(cost, 9) } },
    ]);
  });

  it.each([
    {
      name: "the usual rates if the actual prompt was short",
      usage: used(10_000, 500, 2_000),
      cost: 0.01,
    },
    {
      name: "the rates for long prompts for all tokens of a long prompt",
      usage: used(10_500, 500, 2_000),
      cost: 0.042,
    },
  ])("is charged $name", ({ usage, cost }) => {
    const world = worldWith(40_000);
    world.does("a", answers("A", { usage }));
    expect(world.turn.spentUsd).toBeCloseTo(cost, 9);
  });

  it("has a lower output cap, because the higher rate must fit the budget", () => {
    const world = worldWith(20_000, { max_cost_usd: 0.124 });
    expect(world.starts("a")).toMatchObject([
      { max_output_tokens: 500, reserved: { cost_usd: expect.closeTo(0.124, 9) } },
    ]);
  });
});
