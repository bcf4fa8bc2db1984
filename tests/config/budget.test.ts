import { describe, expect, it } from "vitest";
import { parseBudget } from "../../src/config/budget";

describe("a budget", () => {
  it.each([
    ["without limits", {}, {}],
    ["that is absent", undefined, {}],
    ["in dollars", { max_cost_usd: 0.5 }, { max_cost_usd: 0.5 }],
    ["in tokens", { max_tokens: 1000 }, { max_tokens: 1000 }],
    ["that allows no paid call", { max_cost_usd: 0 }, { max_cost_usd: 0 }],
  ])("%s is taken", (_, value, budget) => {
    expect(parseBudget(value)).toEqual({ ok: true, budget });
  });

  it.each([
    ["below nothing", { max_cost_usd: -1 }, "out_of_range", "/budget/max_cost_usd"],
    ["as a word", { max_cost_usd: "Infinity" }, "wrong_type", "/budget/max_cost_usd"],
    ["without end", { max_cost_usd: Number.POSITIVE_INFINITY }, "out_of_range", "/budget/max_cost_usd"],
    ["beyond all money", { max_cost_usd: 1e308 }, "out_of_range", "/budget/max_cost_usd"],
    ["that is no number", { max_tokens: Number.NaN }, "out_of_range", "/budget/max_tokens"],
    ["of half a token", { max_tokens: 0.5 }, "out_of_range", "/budget/max_tokens"],
    ["under another name", { max_cost: 1 }, "unknown_key", "/budget/max_cost"],
    ["that is a number itself", 5, "wrong_type", "/budget"],
    ["that is a list", [], "wrong_type", "/budget"],
    ["that is text", "max_cost_usd: 5", "wrong_type", "/budget"],
  ])("%s is refused", (_, value, code, pointer) => {
    expect(parseBudget(value)).toMatchObject({ ok: false, errors: [{ code, pointer }] });
  });
});
