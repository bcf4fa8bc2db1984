import { describe, expect, it } from "vitest";
import { emptySession, turnRefusal } from "../../../src/coordination";
import { agentRules, teamRules } from "../builders";
import { World } from "../world";

const settled = { ...emptySession, turns: 2 };
const priced = teamRules([agentRules("a")]);
const unpriced = teamRules([agentRules("a"), agentRules("b", { price: null })]);
const next = { parentTurn: null, budget: {} };

describe("a further turn", () => {
  it.each([
    { name: "the latest turn is settled", rules: unpriced, request: next },
    { name: "it continues the latest turn", rules: priced, request: { ...next, parentTurn: 2 } },
    {
      name: "all prices are known and its budget is in dollars",
      rules: priced,
      request: { ...next, budget: { max_cost_usd: 1 } },
    },
    {
      name: "its budget is in tokens",
      rules: unpriced,
      request: { ...next, budget: { max_tokens: 1_000 } },
    },
  ])("may start if $name", ({ rules, request }) => {
    expect(turnRefusal(settled, rules, request)).toBeNull();
  });

  it("is refused while a turn runs", () => {
    const world = new World({ agents: ["a"] });
    world.ask();
    expect(turnRefusal(world.state, world.rules, { ...next, parentTurn: 9 })).toEqual({
      ok: false,
      code: "turn_running",
      turn: 1,
    });
  });

  it("is refused if the turn to continue does not exist", () => {
    expect(turnRefusal(settled, priced, { ...next, parentTurn: 3 })).toEqual({
      ok: false,
      code: "turn_not_found",
    });
  });

  it("is refused if its budget is in dollars and a price is unknown", () => {
    expect(turnRefusal(settled, unpriced, { ...next, budget: { max_cost_usd: 1 } })).toEqual({
      ok: false,
      code: "price_unknown",
      agents: ["b"],
    });
  });
});
