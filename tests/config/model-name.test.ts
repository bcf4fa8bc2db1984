import { describe, expect, it } from "vitest";
import { MODEL_GROUPS } from "../../src/providers/model-rows";
import { SERVED_TYPES } from "../../src/providers/registry";
import { teamWith, warningsOf } from "./teams";

const warningsAboutModel = (backend: string) =>
  warningsOf(teamWith(backend)).filter((line) => line.startsWith("model_unknown"));

describe("the name of a model (A1)", () => {
  it.each([
    {
      backend: "model: gpt-6-lunna",
      message: "gpt-6-lunna is not a known model of OpenAI. Did you mean `gpt-6-luna`?",
    },
    {
      backend: "type: openai\nmodel: GPT-6-Luna",
      message: "GPT-6-Luna is not a known model of OpenAI. Did you mean `gpt-6-luna`?",
    },
    {
      backend: "type: claude\nmodel: claude-sonet-5-5",
      message:
        "claude-sonet-5-5 is not a known model of Anthropic. Did you mean `claude-sonnet-5-5`?",
    },
    {
      backend: "type: openai\nmodel: openai/gpt-6-luna",
      message: "openai/gpt-6-luna is not a known model of OpenAI. Did you mean `gpt-6-luna`?",
    },
    {
      backend: "type: openai\nmodel: openai/gpt-6-lunna",
      message: "openai/gpt-6-lunna is not a known model of OpenAI. Did you mean `gpt-6-luna`?",
    },
    {
      backend: "type: claude\nmodel: opus-5-5",
      message: "opus-5-5 is not a known model of Anthropic. Did you mean `claude-opus-5-5`?",
    },
    {
      backend: "type: openai\nmodel: gpt-6-lunna-2026-01-01",
      message: "gpt-6-lunna-2026-01-01 is not a known model of OpenAI. Did you mean `gpt-6-luna`?",
    },
  ])(
    "has a warning if it resembles a known model of its provider: $backend",
    ({ backend, message }) => {
      expect(warningsAboutModel(backend)).toEqual([
        `model_unknown /agents/0/backend/model: ${message}`,
      ]);
    },
  );

  it.each([
    { name: "that is known", backend: "model: gpt-6-luna" },
    { name: "of another version", backend: "model: gpt-5-codex" },
    { name: "with a date suffix", backend: "model: gpt-6-luna-2026-11-01" },
    { name: "that is the end of several names", backend: "type: openai\nmodel: luna" },
    { name: "that is similar to none", backend: "type: openai\nmodel: ft:acme:support:7p4lURel" },
    {
      name: "of a host whose models are not known",
      backend: "type: openrouter\nmodel: openai/gpt-6-lunna",
    },
    { name: "of a self-hosted server", backend: "type: ollama\nmodel: gpt-6-lunna" },
    {
      name: "of a deployment, which may have any name",
      backend:
        "type: azure_openai\nmodel: gpt-6-lunna\nbase_url: https://acme.openai.azure.com/openai/v1\napi_key: ${AZURE_OPENAI_API_KEY}",
    },
  ])("a model $name has no warning", ({ backend }) => {
    expect(warningsAboutModel(backend)).toEqual([]);
  });

  it("no known model has a warning at its own host", () => {
    expect(SERVED_TYPES).toContain("openai");
    const known = MODEL_GROUPS.filter(({ host }) => host === "openai").flatMap(({ rows }) =>
      Object.keys(rows),
    );
    expect(known.length).toBeGreaterThan(20);
    expect(known.flatMap((model) => warningsAboutModel(`type: openai\nmodel: ${model}`))).toEqual(
      [],
    );
  });
});
