import { describe, expect, it } from "vitest";
import { capTooSmall } from "../../../src/coordination";
import { agentRules, teamRules } from "../../builders/team-rules";

const price = { input: 1, cached_input: 0.5, output: 2 };
const free = { input: 0, cached_input: 0, output: 0 };
const two = [agentRules("a", { price }), agentRules("b", { price: { ...price, input: 2 } })];
const calls = [
  { agent: 0, inputTokens: 3_000 },
  { agent: 1, inputTokens: 2_000 },
];
const refusalFor = (budget: object, agents = two, changes: object = {}) =>
  capTooSmall({
    rules: teamRules(agents, changes),
    budget,
    calls: calls.slice(0, agents.length),
    questionTokens: 100,
  });

describe("a cap of the budget (A2)", () => {
  it("in tokens is too small below the cheapest first call with the shortest useful reply", () => {
    const enough = 3_000 + 1_024 + 2_000 + 1_024 + (4_000 + 100 + 2 * 1_024) + 2_048;
    expect(refusalFor({ max_tokens: 2_255 })).toEqual({
      code: "budget_too_small",
      capped: "max_tokens",
      cap: 2_255,
      cheapest: 2_000 + 256,
      enough,
    });
    expect(refusalFor({ max_tokens: 2_256 })).toBeNull();
  });

  it("in dollars is compared with each agent's price, and `enough` has the most expensive presentation", () => {
    const [cheapest, presentation] = [
      (3_000 + 512) / 1e6,
      ((4_000 + 100 + 2 * 1_024) * 2 + 2_048 * 2) / 1e6,
    ];
    const enough = (3_000 + 2_048 + 4_000 + 2_048) / 1e6 + presentation;
    const refusal = refusalFor({ max_cost_usd: 0.0035 });
    expect(refusal).toMatchObject({
      capped: "max_cost_usd",
      cheapest: expect.closeTo(cheapest, 9),
      enough: expect.closeTo(enough, 9),
    });
    expect(refusalFor({ max_cost_usd: cheapest })).toBeNull();
  });

  it.each([
    { name: "a short prompt", inputTokens: 2_000, presented: 4_000 + 100 },
    {
      name: "a prompt with earlier turns, which the presenter's prompt repeats",
      inputTokens: 9_000,
      presented: 9_000,
    },
  ])(
    "is enough if it also pays for a presentation as long as the first call: $name",
    ({ inputTokens, presented }) => {
      const agents = two.slice(0, 1);
      const question = {
        rules: teamRules(agents),
        budget: { max_tokens: 0 },
        calls: [{ agent: 0, inputTokens }],
        questionTokens: 100,
      };
      expect(capTooSmall(question)).toMatchObject({
        enough: inputTokens + 1_024 + presented + 1_024 + 2_048,
      });
    },
  );

  it.each([
    { name: "if it does not exist", budget: {} },
    {
      name: "if it is zero and a call costs nothing",
      budget: { max_cost_usd: 0 },
      agents: [agentRules("a", { price: free })],
    },
  ])("is not too small $name", ({ budget, agents = two }) => {
    expect(refusalFor(budget, agents)).toBeNull();
  });

  it("of a team without coordination needs to pay only for its presentation", () => {
    expect(
      refusalFor({ max_tokens: 1 }, two.slice(0, 1), { skip_coordination: true }),
    ).toMatchObject({
      cheapest: 3_256,
      enough: 5_048,
    });
  });
});
