import { describe, expect, it } from "vitest";
import { PARAMS } from "../../../src/providers/anthropic/params";
import { body, TOOL } from "./requests";

const problems = (params: Record<string, unknown>, model = "claude-sonnet-4-5") =>
  PARAMS.check?.(params, model).map(({ key }) => key);

describe("the config check", () => {
  it.each([
    {
      name: "accepts a temperature for an early model",
      params: { temperature: 0.5 },
      model: "claude-sonnet-4-5",
      expected: [],
    },
    {
      name: "refuses sampling parameters for a late model",
      params: { temperature: 1, top_k: 5 },
      model: "claude-opus-4-7",
      expected: ["temperature", "top_k"],
    },
    {
      name: "refuses temperature together with top_p",
      params: { temperature: 0.5, top_p: 0.9 },
      model: "claude-sonnet-4-5",
      expected: ["top_p"],
    },
    {
      name: "accepts both for a model that supports both",
      params: { temperature: 0.5, top_p: 0.9 },
      model: "claude-sonnet-4",
      expected: [],
    },
    {
      name: "refuses a temperature with thinking",
      params: { temperature: 0.5, max_thinking_tokens: 2_000 },
      model: "claude-sonnet-4-5",
      expected: ["temperature"],
    },
    {
      name: "accepts the only valid temperature with thinking",
      params: { temperature: 1, max_thinking_tokens: 2_000 },
      model: "claude-sonnet-4-5",
      expected: [],
    },
    {
      name: "refuses top_k with thinking",
      params: { top_k: 5, reasoning_effort: "high" },
      model: "claude-sonnet-4-5",
      expected: ["top_k"],
    },
    {
      name: "refuses a low top_p with thinking",
      params: { top_p: 0.5, reasoning_effort: "high" },
      model: "claude-sonnet-4-5",
      expected: ["top_p"],
    },
    {
      name: "accepts thinking off",
      params: { thinking: { type: "disabled" } },
      model: "claude-sonnet-5",
      expected: [],
    },
    {
      name: "refuses thinking off for a model that always thinks",
      params: { thinking: { type: "disabled" } },
      model: "claude-opus-5-5",
      expected: ["thinking"],
    },
    {
      name: "refuses invalid names of betas",
      params: { betas: ["ok-1", "a b"] },
      model: "claude-sonnet-4-5",
      expected: ["betas"],
    },
    {
      name: "refuses a blank stop text",
      params: { stop: [" "] },
      model: "claude-sonnet-4-5",
      expected: ["stop"],
    },
  ])("$name", ({ params, model, expected }) => expect(problems(params, model)).toEqual(expected));

  it("reports how to correct the config", () => {
    expect(PARAMS.check?.({ temperature: 0.5 }, "claude-opus-5")).toEqual([
      {
        key: "temperature",
        detail: expect.stringMatching(/claude-opus-5 does not support `temperature`: remove it/),
      },
    ]);
  });

  it.each([
    { model: "claude-sonnet-4-5", params: {}, forces: true },
    { model: "claude-sonnet-4-5", params: { max_thinking_tokens: 2_000 }, forces: false },
    { model: "claude-opus-4-8", params: {}, forces: true },
    { model: "claude-sonnet-5", params: {}, forces: false },
    { model: "claude-sonnet-5", params: { thinking: { type: "disabled" } }, forces: true },
    { model: "claude-opus-5-5", params: { reasoning_effort: "none" }, forces: false },
    { model: "claude-sonnet-5-5", params: { reasoning_effort: "none" }, forces: false },
    { model: "claude-haiku-5-5", params: { reasoning_effort: "none" }, forces: true },
  ])(
    "knows whether a call of $model with $params can be forced ($forces), and the request agrees",
    ({ model, params, forces }) => {
      expect(PARAMS.forcesTools?.(params, model)).toBe(forces);
      expect(body({ model, params, tools: [TOOL], toolChoice: "required" }).tool_choice.type).toBe(
        forces ? "any" : "auto",
      );
    },
  );
});

it("every parameter is sent with its own name or with the name of the format", () => {
  const bodyNames = new Set([
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "thinking",
    "output_config",
    "service_tier",
    "metadata",
  ]);
  const converted = new Set([
    "stop",
    "reasoning",
    "reasoning_effort",
    "max_thinking_tokens",
    "betas",
  ]);
  for (const name of Object.keys(PARAMS.kinds))
    expect(bodyNames.has(name) || converted.has(name), name).toBe(true);
});
