import { describe, expect, it } from "vitest";
import { canCombineHosted } from "../../../src/providers/gemini/thinking";
import { PARAMS } from "../../../src/providers/gemini/params";
import { body } from "./calls";

const thinking = async (model: string, params: object) => {
  const { generationConfig } = await body({ model, params: { ...params } });
  return (generationConfig as Record<string, unknown> | undefined)?.["thinkingConfig"];
};

describe("thinking", () => {
  it.each<[string, string, object, object | undefined]>([
    ["is shown if the model thinks by default", "gemini-2.5-flash", {}, { includeThoughts: true }],
    [
      "is omitted for a small model that does not think by default",
      "gemini-2.5-flash-lite",
      {},
      undefined,
    ],
    ["is not requested from a model that cannot think", "gemini-2.0-flash", {}, undefined],
    ["is not requested from a model that makes pictures", "gemini-2.5-flash-image", {}, undefined],
    ["is not requested from an unknown model", "some-model", {}, undefined],
    [
      "has the budget of the config",
      "gemini-2.5-pro",
      { thinking_budget: 999 },
      { includeThoughts: true, thinkingBudget: 999 },
    ],
    [
      "is off with a budget of 0",
      "gemini-2.5-flash",
      { thinking_budget: 0 },
      { thinkingBudget: 0 },
    ],
    [
      "is off with the effort none",
      "gemini-2.5-flash",
      { reasoning_effort: "none" },
      { thinkingBudget: 0 },
    ],
    [
      "has the lowest budget if the model cannot switch it off",
      "gemini-2.5-pro",
      { reasoning_effort: "none" },
      { includeThoughts: true, thinkingBudget: 128 },
    ],
    [
      "has a budget for an effort if the model has budgets",
      "gemini-2.5-flash",
      { thinking_level: "high" },
      { includeThoughts: true, thinkingBudget: 24_576 },
    ],
    [
      "has a level for an effort if the model has levels",
      "gemini-3.6-flash",
      { reasoning_effort: "minimal" },
      { includeThoughts: true, thinkingLevel: "MINIMAL" },
    ],
    [
      "has the lowest level of newer models",
      "gemini-3.7-flash",
      { reasoning_effort: "none" },
      { includeThoughts: true, thinkingLevel: "LOW" },
    ],
    [
      "has the lowest level of the newest model",
      "gemini-flash-latest",
      { thinking_level: "minimal" },
      { includeThoughts: true, thinkingLevel: "LOW" },
    ],
    [
      "has a level that the large model supports",
      "gemini-3.1-pro-preview",
      { reasoning_effort: "none" },
      { includeThoughts: true, thinkingLevel: "LOW" },
    ],
    [
      "has at most the highest level",
      "gemini-flash-latest",
      { reasoning: { effort: "xhigh" } },
      { includeThoughts: true, thinkingLevel: "HIGH" },
    ],
    [
      "may be a budget for newer models too",
      "gemini-3.8-flash",
      { reasoning: { budget_tokens: -1 } },
      { includeThoughts: true, thinkingBudget: -1 },
    ],
    [
      "is sent to an unknown model as configured",
      "some-model",
      { thinking_level: "low" },
      { thinkingLevel: "LOW" },
    ],
  ])("%s: %s", async (_, model, params, expected) => {
    expect(await thinking(model, params)).toEqual(expected);
  });
});

describe("the check", () => {
  const check = (params: Record<string, unknown>, model = "gemini-3.8-flash") =>
    (PARAMS.check?.(params, model) ?? []).map(({ key, detail }) => `${key}: ${detail}`);

  it.each<[string, Record<string, unknown>]>([
    ["a budget", { thinking_budget: 100 }],
    [
      "a mapping of safety settings",
      { safety_settings: { HARM_CATEGORY_HARASSMENT: "BLOCK_NONE" } },
    ],
    ["reasoning with its type", { reasoning: { type: "enabled", effort: "low" } }],
    [
      "additional fields",
      { extra_body: { generationConfig: { presencePenalty: 1 }, store: false } },
    ],
    ["five stops", { stop: ["a", "b", "c", "d", "e"] }],
  ])("accepts %s", (_, params) => expect(check(params)).toEqual([]));

  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      "two settings for the same thing",
      { thinking_budget: 1, thinking_level: "low" },
      /^thinking_level: `thinking_budget` already/,
    ],
    [
      "two efforts",
      { reasoning_effort: "low", reasoning: { effort: "high" } },
      /^reasoning: `reasoning_effort` already/,
    ],
    [
      "an unknown effort",
      { reasoning: { effort: "extreme" } },
      /^reasoning: `effort` must be one of none, minimal/,
    ],
    [
      "a budget that is not a number",
      { reasoning: { budget_tokens: "many" } },
      /^reasoning: `budget_tokens` must be a whole number/,
    ],
    ["an unknown key", { reasoning: { efort: "low" } }, /^reasoning: unknown key `efort`/],
    [
      "an unknown category",
      { safety_settings: { RUDENESS: "BLOCK_NONE" } },
      /^safety_settings: .*`RUDENESS`.*HARM_CATEGORY_HARASSMENT/,
    ],
    [
      "an unknown threshold",
      { safety_settings: [{ category: "harassment", threshold: "ALL" }] },
      /no threshold `ALL`/,
    ],
    [
      "a safety setting of the wrong type",
      { safety_settings: ["harassment"] },
      /no category of that type/,
    ],
    [
      "a repeated category",
      { safety_settings: { harassment: "OFF", HARM_CATEGORY_HARASSMENT: "OFF" } },
      /repeated/,
    ],
    [
      "an output cap among the additional fields",
      { extra_body: { generationConfig: { maxOutputTokens: 1 } } },
      /^extra_body: .*use `max_output_tokens`/,
    ],
    [
      "thinking among the additional fields",
      { extra_body: { generation_config: { thinking_config: {} } } },
      /^extra_body: .*thinking_level/,
    ],
    ["six stops", { stop: ["a", "b", "c", "d", "e", "f"] }, /^stop: .*at most 5/],
    ["a stop that is not a text", { stop: [1] }, /^stop: /],
  ])("refuses %s", (_, params, problem) =>
    expect(check(params)).toEqual([expect.stringMatching(problem)]),
  );

  it("refuses thinking for a model without it", () => {
    expect(check({ thinking_budget: 5 }, "gemini-2.0-flash")).toEqual([
      expect.stringMatching(/gemini-2.0-flash. does not think/),
    ]);
  });
});

it.each([
  ["gemini-3.8-flash", true],
  ["gemini-3-pro-preview", true],
  ["gemini-4-argon", true],
  ["models/gemini-3.5-flash-lite", true],
  ["gemini-flash-latest", true],
  ["my-own-name", true],
  ["gemini-2.5-pro", false],
  ["gemini-2.0-flash-exp", false],
  ["models/gemini-1.5-flash-002", false],
  ["gemma-3-27b-it", false],
])("%s accepts hosted tools beside others: %s", (model, can) => {
  expect(canCombineHosted(model)).toBe(can);
  expect(PARAMS.hostedAlone?.(model) === null).toBe(can);
});
