import { describe, expect, it } from "vitest";
import { PARAMS } from "../../../src/providers/anthropic/params";
import { body, TOOL } from "./requests";

const problems = (params: Record<string, unknown>, model = "claude-sonnet-4-5") =>
  PARAMS.check?.(params, model).map(({ key }) => key);

describe("the config check", () => {
  it.each([
    {
      name: "a temperature for an early model",
      params: { temperature: 0.5 },
      model: "claude-sonnet-4-5",
      gives: [],
    },
    {
      name: "any sampling for a late model",
      params: { temperature: 1, top_k: 5 },
      model: "claude-opus-4-7",
      gives: ["temperature", "top_k"],
    },
    {
      name: "temperature and top_p together",
      params: { temperature: 0.5, top_p: 0.9 },
      model: "claude-sonnet-4-5",
      gives: ["top_p"],
    },
    {
      name: "both, for a model that accepts both",
      params: { temperature: 0.5, top_p: 0.9 },
      model: "claude-sonnet-4",
      gives: [],
    },
    {
      name: "a temperature while thinking",
      params: { temperature: 0.5, max_thinking_tokens: 2_000 },
      model: "claude-sonnet-4-5",
      gives: ["temperature"],
    },
    {
      name: "the only valid temperature while thinking",
      params: { temperature: 1, max_thinking_tokens: 2_000 },
      model: "claude-sonnet-4-5",
      gives: [],
    },
    {
      name: "top_k while thinking",
      params: { top_k: 5, reasoning_effort: "high" },
      model: "claude-sonnet-4-5",
      gives: ["top_k"],
    },
    {
      name: "a low top_p while thinking",
      params: { top_p: 0.5, reasoning_effort: "high" },
      model: "claude-sonnet-4-5",
      gives: ["top_p"],
    },
    {
      name: "thinking off",
      params: { thinking: { type: "disabled" } },
      model: "claude-sonnet-5",
      gives: [],
    },
    {
      name: "thinking off for a model that always thinks",
      params: { thinking: { type: "disabled" } },
      model: "claude-opus-5-5",
      gives: ["thinking"],
    },
    {
      name: "invalid names of betas",
      params: { betas: ["ok-1", "a b"] },
      model: "claude-sonnet-4-5",
      gives: ["betas"],
    },
    {
      name: "a blank stop text",
      params: { stop: [" "] },
      model: "claude-sonnet-4-5",
      gives: ["stop"],
    },
  ])("judges $name", ({ params, model, gives }) => expect(problems(params, model)).toEqual(gives));

  it("names a remedy", () => {
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
    "reports that $model with $params can be forced: $forces, like the request",
    ({ model, params, forces }) => {
      expect(PARAMS.forcesTools?.(params, model)).toBe(forces);
      expect(body({ model, params, tools: [TOOL], toolChoice: "required" }).tool_choice.type).toBe(
        forces ? "any" : "auto",
      );
    },
  );
});

it("every parameter is sent under its own name or the format's name", () => {
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
  const reworded = new Set([
    "stop",
    "reasoning",
    "reasoning_effort",
    "max_thinking_tokens",
    "betas",
  ]);
  for (const name of Object.keys(PARAMS.kinds))
    expect(bodyNames.has(name) || reworded.has(name), name).toBe(true);
});
