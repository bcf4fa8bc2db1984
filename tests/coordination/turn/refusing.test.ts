import { describe, expect, it } from "vitest";
import { emptySession, priceRefusal, turnRefusal } from "../../../src/coordination";
import { agentRules, teamRules } from "../builders";
import { World } from "../world";

const settled = { ...emptySession, turns: 2 };
const priced = teamRules([agentRules("a")]);
const unpriced = teamRules([agentRules("a"), agentRules("b", { price: null })]);

describe("a further turn", () => {
  it.each([
    { name: "the latest turn is settled", parentTurn: null },
    { name: "it continues the latest turn", parentTurn: 2 },
  ])("may start if $name", ({ parentTurn }) => {
    expect(turnRefusal(settled, { parentTurn })).toBeNull();
  });

  it.each([
    { name: "it has no budget", rules: unpriced, budget: {} },
    {
      name: "all prices are known and its budget is in dollars",
      rules: priced,
      budget: { max_cost_usd: 1 },
    },
    { name: "its budget is in tokens", rules: unpriced, budget: { max_tokens: 1_000 } },
  ])("may start with its team if $name", ({ rules, budget }) => {
    expect(priceRefusal(rules, budget)).toBeNull();
  });

  it("is refused while a turn runs", () => {
    const world = new World({ agents: ["a"] });
    world.ask();
    expect(turnRefusal(world.state, { parentTurn: 9 })).toEqual({
      ok: false,
      code: "turn_running",
      turn: 1,
    });
  });

  it("is refused if the turn to continue does not exist", () => {
    expect(turnRefusal(settled, { parentTurn: 3 })).toEqual({
      ok: false,
      code: "turn_not_found",
    });
  });

  it("is refused if its budget is in dollars and a price is unknown", () => {
    expect(priceRefusal(unpriced, { max_cost_usd: 1 })).toEqual({
      ok: false,
      code: "price_unknown",
      agents: ["b"],
    });
  });
});
