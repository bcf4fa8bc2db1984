import { describe, expect, it } from "vitest";
import { traitsOf } from "../../../src/providers/anthropic/thinking";
import { body } from "./requests";

const EARLY = "claude-sonnet-4-5-20250929";
const EITHER = "claude-opus-4-6";
const LATE = "claude-opus-4-8";
const DEFAULT = "claude-sonnet-5";
const ALWAYS = "claude-opus-5-5";
const BOUND = { block_binding: { prefix_mismatch_behavior: "drop_block" } };
const SUMMARY = { type: "adaptive", display: "summarized" };
const enabled = (budget_tokens: number) => ({ type: "enabled", budget_tokens });

const fields = (model: string, params: Record<string, unknown>, maxOutputTokens = 20_000) => {
  const { thinking, output_config } = body({ model, params, maxOutputTokens });
  return { ...(thinking && { thinking }), ...(output_config && { effort: output_config.effort }) };
};

describe("thinking", () => {
  it.each([
    { name: "is not requested by default", model: EARLY, params: {}, expected: {} },
    {
      name: "has a budget with the names of the format",
      model: EARLY,
      params: { thinking: enabled(5_000) },
      expected: { thinking: enabled(5_000) },
    },
    {
      name: "has a budget with the names of MassGen",
      model: EARLY,
      params: { max_thinking_tokens: 6_000 },
      expected: { thinking: enabled(6_000) },
    },
    {
      name: "has a budget under `reasoning`",
      model: EARLY,
      params: { reasoning: { type: "enabled", budget_tokens: 7_000 } },
      expected: { thinking: enabled(7_000) },
    },
    {
      name: "turns an effort into a budget if the model accepts budgets",
      model: EARLY,
      params: { reasoning_effort: "medium" },
      expected: { thinking: enabled(10_000) },
    },
    {
      name: "has the default budget if no amount is set",
      model: EARLY,
      params: { thinking: { type: "adaptive" } },
      expected: { thinking: enabled(8_000) },
    },
    {
      name: "raises a budget below the minimum",
      model: EARLY,
      params: { max_thinking_tokens: 10 },
      expected: { thinking: enabled(1_024) },
    },
    {
      name: "lowers a budget to three quarters of the output cap",
      model: EARLY,
      params: { max_thinking_tokens: 90_000 },
      expected: { thinking: enabled(15_000) },
    },
    {
      name: "is not requested if it is off",
      model: EARLY,
      params: { reasoning_effort: "none" },
      expected: {},
    },
    {
      name: "is not requested with a budget of zero",
      model: EARLY,
      params: { max_thinking_tokens: 0 },
      expected: {},
    },
    {
      name: "keeps a budget if the model accepts both",
      model: EITHER,
      params: { max_thinking_tokens: 5_000 },
      expected: { thinking: enabled(5_000) },
    },
    {
      name: "keeps an effort if the model accepts both",
      model: EITHER,
      params: { reasoning: { effort: "high" } },
      expected: { thinking: { type: "adaptive" }, effort: "high" },
    },
    {
      name: "is not requested by default from a late model",
      model: LATE,
      params: {},
      expected: {},
    },
    {
      name: "keeps an effort if the model has no budgets",
      model: LATE,
      params: { reasoning_effort: "xhigh" },
      expected: { thinking: SUMMARY, effort: "xhigh" },
    },
    {
      name: "turns a budget into an effort if the model has no budgets",
      model: LATE,
      params: { max_thinking_tokens: 8_000 },
      expected: { thinking: SUMMARY, effort: "medium" },
    },
    {
      name: "shows summaries of a model that thinks by default",
      model: DEFAULT,
      params: {},
      expected: { thinking: SUMMARY },
    },
    {
      name: "is disabled for a model that thinks by default",
      model: DEFAULT,
      params: { thinking: { type: "disabled" } },
      expected: { thinking: { type: "disabled" } },
    },
    {
      name: "shows summaries of a model that always thinks",
      model: ALWAYS,
      params: {},
      expected: { thinking: { ...SUMMARY, ...BOUND } },
    },
    {
      name: "has the lowest effort if a model that always thinks should not think",
      model: ALWAYS,
      params: { reasoning_effort: "none" },
      expected: { thinking: { ...SUMMARY, ...BOUND }, effort: "low" },
    },
    {
      name: "has the display setting of the config",
      model: LATE,
      params: { thinking: { type: "adaptive", display: "omitted" } },
      expected: { thinking: { type: "adaptive", display: "omitted" } },
    },
    {
      name: "has an effort with the names of the format",
      model: LATE,
      params: { output_config: { effort: "low" } },
      expected: { effort: "low" },
    },
  ])("$name", ({ model, params, expected }) => expect(fields(model, params)).toEqual(expected));

  it("is omitted if the reply is too short for the smallest budget", () => {
    expect(fields(EARLY, { max_thinking_tokens: 4_000 }, 1_300)).toEqual({});
  });

  it("always leaves output tokens for the answer", () => {
    for (let cap = 1; cap < 60_000; cap += 997) {
      const { thinking } = body({
        model: EARLY,
        params: { max_thinking_tokens: 50_000 },
        maxOutputTokens: cap,
      });
      if (thinking) expect(thinking.budget_tokens).toBeLessThan(cap);
    }
  });
});

describe("generations", () => {
  it.each([
    { model: "claude-3-7-sonnet-20250219", thinking: "budget", acceptsSampling: true },
    { model: "claude-sonnet-4-20250514", thinking: "budget", acceptsSampling: true },
    { model: "claude-haiku-4-5-20251001", thinking: "budget", acceptsSampling: true },
    { model: "claude-opus-4-6", thinking: "either", acceptsSampling: true },
    { model: "claude-opus-4-7", thinking: "adaptive", acceptsSampling: false },
    { model: "anthropic/claude-opus-4.7", thinking: "adaptive", acceptsSampling: false },
    { model: "claude-sonnet-5", thinking: "adaptive", acceptsSampling: false },
    { model: "claude-haiku-5-5", thinking: "adaptive", acceptsSampling: false },
    { model: "claude-mythos-preview", thinking: "adaptive", acceptsSampling: false },
    { model: "glm-4.7", thinking: "budget", acceptsSampling: true },
    { model: "my-claude", thinking: "budget", acceptsSampling: true },
  ])("$model thinks by $thinking", ({ model, thinking, acceptsSampling }) => {
    expect(traitsOf(model)).toMatchObject({ thinking, acceptsSampling });
  });

  it.each([
    { model: "claude-opus-5", alwaysThinks: false, thinksByDefault: true, isBoundToPrefix: false },
    { model: "claude-opus-5-5", alwaysThinks: true, thinksByDefault: true, isBoundToPrefix: true },
    {
      model: "claude-sonnet-5",
      alwaysThinks: false,
      thinksByDefault: true,
      isBoundToPrefix: false,
    },
    {
      model: "claude-sonnet-5-5",
      alwaysThinks: true,
      thinksByDefault: true,
      isBoundToPrefix: true,
    },
    {
      model: "claude-haiku-5-5",
      alwaysThinks: false,
      thinksByDefault: true,
      isBoundToPrefix: true,
    },
    { model: "claude-fable-5", alwaysThinks: true, thinksByDefault: true, isBoundToPrefix: false },
    { model: "claude-fable-5-1", alwaysThinks: true, thinksByDefault: true, isBoundToPrefix: true },
    {
      model: "claude-opus-4-8",
      alwaysThinks: false,
      thinksByDefault: false,
      isBoundToPrefix: false,
    },
  ])("$model always thinks: $alwaysThinks", ({ model, ...traits }) =>
    expect(traitsOf(model)).toMatchObject(traits),
  );
});
