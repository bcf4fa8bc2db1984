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
    { name: "nothing by default", model: EARLY, params: {}, gives: {} },
    {
      name: "a budget in the format's words",
      model: EARLY,
      params: { thinking: enabled(5_000) },
      gives: { thinking: enabled(5_000) },
    },
    {
      name: "a budget in MassGen's words",
      model: EARLY,
      params: { max_thinking_tokens: 6_000 },
      gives: { thinking: enabled(6_000) },
    },
    {
      name: "a budget as reasoning",
      model: EARLY,
      params: { reasoning: { type: "enabled", budget_tokens: 7_000 } },
      gives: { thinking: enabled(7_000) },
    },
    {
      name: "an effort, for a model that takes budgets",
      model: EARLY,
      params: { reasoning_effort: "medium" },
      gives: { thinking: enabled(10_000) },
    },
    {
      name: "thinking without a measure",
      model: EARLY,
      params: { thinking: { type: "adaptive" } },
      gives: { thinking: enabled(8_000) },
    },
    {
      name: "a budget below the minimum",
      model: EARLY,
      params: { max_thinking_tokens: 10 },
      gives: { thinking: enabled(1_024) },
    },
    {
      name: "a budget above the cap, which leaves a quarter of it",
      model: EARLY,
      params: { max_thinking_tokens: 90_000 },
      gives: { thinking: enabled(15_000) },
    },
    {
      name: "thinking switched off",
      model: EARLY,
      params: { reasoning_effort: "none" },
      gives: {},
    },
    { name: "a budget of zero", model: EARLY, params: { max_thinking_tokens: 0 }, gives: {} },
    {
      name: "a budget, for a model that accepts either",
      model: EITHER,
      params: { max_thinking_tokens: 5_000 },
      gives: { thinking: enabled(5_000) },
    },
    {
      name: "an effort, for a model that accepts either",
      model: EITHER,
      params: { reasoning: { effort: "high" } },
      gives: { thinking: { type: "adaptive" }, effort: "high" },
    },
    { name: "nothing, for a model that thinks on request", model: LATE, params: {}, gives: {} },
    {
      name: "an effort, for a model without budgets",
      model: LATE,
      params: { reasoning_effort: "xhigh" },
      gives: { thinking: SUMMARY, effort: "xhigh" },
    },
    {
      name: "a budget, for a model without budgets",
      model: LATE,
      params: { max_thinking_tokens: 8_000 },
      gives: { thinking: SUMMARY, effort: "medium" },
    },
    {
      name: "nothing, for a model that thinks by default",
      model: DEFAULT,
      params: {},
      gives: { thinking: SUMMARY },
    },
    {
      name: "off, for a model that thinks by default",
      model: DEFAULT,
      params: { thinking: { type: "disabled" } },
      gives: { thinking: { type: "disabled" } },
    },
    {
      name: "nothing, for a model that always thinks",
      model: ALWAYS,
      params: {},
      gives: { thinking: { ...SUMMARY, ...BOUND } },
    },
    {
      name: "off, for a model that always thinks",
      model: ALWAYS,
      params: { reasoning_effort: "none" },
      gives: { thinking: { ...SUMMARY, ...BOUND }, effort: "low" },
    },
    {
      name: "its display from the config",
      model: LATE,
      params: { thinking: { type: "adaptive", display: "omitted" } },
      gives: { thinking: { type: "adaptive", display: "omitted" } },
    },
    {
      name: "an effort in the format's words",
      model: LATE,
      params: { output_config: { effort: "low" } },
      gives: { effort: "low" },
    },
  ])("sends $name", ({ model, params, gives }) => expect(fields(model, params)).toEqual(gives));

  it("is omitted from a reply too short for it", () => {
    expect(fields(EARLY, { max_thinking_tokens: 4_000 }, 1_300)).toEqual({});
  });

  it("always leaves room for the answer", () => {
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
    { model: "claude-3-7-sonnet-20250219", thinking: "budget", sampling: true },
    { model: "claude-sonnet-4-20250514", thinking: "budget", sampling: true },
    { model: "claude-haiku-4-5-20251001", thinking: "budget", sampling: true },
    { model: "claude-opus-4-6", thinking: "either", sampling: true },
    { model: "claude-opus-4-7", thinking: "adaptive", sampling: false },
    { model: "anthropic/claude-opus-4.7", thinking: "adaptive", sampling: false },
    { model: "claude-sonnet-5", thinking: "adaptive", sampling: false },
    { model: "claude-haiku-5-5", thinking: "adaptive", sampling: false },
    { model: "claude-mythos-preview", thinking: "adaptive", sampling: false },
    { model: "glm-4.7", thinking: "budget", sampling: true },
    { model: "my-claude", thinking: "budget", sampling: true },
  ])("$model thinks by $thinking", ({ model, thinking, sampling }) => {
    expect(traitsOf(model)).toMatchObject({ thinking, sampling });
  });

  it.each([
    { model: "claude-opus-5", always: false, byDefault: true, bound: false },
    { model: "claude-opus-5-5", always: true, byDefault: true, bound: true },
    { model: "claude-sonnet-5", always: false, byDefault: true, bound: false },
    { model: "claude-sonnet-5-5", always: true, byDefault: true, bound: true },
    { model: "claude-haiku-5-5", always: false, byDefault: true, bound: true },
    { model: "claude-fable-5", always: true, byDefault: true, bound: false },
    { model: "claude-fable-5-1", always: true, byDefault: true, bound: true },
    { model: "claude-opus-4-8", always: false, byDefault: false, bound: false },
  ])("$model thinks always: $always", ({ model, ...traits }) =>
    expect(traitsOf(model)).toMatchObject(traits),
  );
});
