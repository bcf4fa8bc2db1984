import { describe, expect, it } from "vitest";
import { HOSTS } from "../../src/providers/hosts";
import { MODEL_GROUPS } from "../../src/providers/model-rows";
import { modelFacts, UNKNOWN_MODEL } from "../../src/providers/models";

describe("a model's price", () => {
  it.each([
    { model: "gpt-5", host: "openai", input: 1.25 },
    { model: "gpt-6.2-sol", host: "openai", input: 2 },
    { model: "gpt-5-mini-2025-08-07", host: "openai", input: 0.25 },
    { model: "gpt-4o-2024-08-06", host: "openai", input: 2.5 },
    { model: "gpt-4o-2024-05-13", host: "openai", input: 5 },
    { model: "claude-sonnet-4-5-20250929", host: "anthropic", input: 3 },
    { model: "claude-3-5-haiku-20241022", host: "anthropic", input: 0.8 },
    { model: "gemini-3.8-flash", host: "google", input: 1.5 },
    { model: "grok-4.7", host: "xai", input: 2 },
    { model: "gpt-oss-120b", host: "cerebras", input: 0.35 },
    { model: "openai/gpt-oss-120b", host: "groq", input: 0.15 },
    { model: "gpt-5-codex", host: "openai", input: undefined },
    { model: "my-gpt-5", host: "openai", input: undefined },
    { model: "gpt-4o-mini-2024-07-18-ft", host: "openai", input: undefined },
    { model: "toString", host: "openai", input: undefined },
  ])("of $model at $host is $input per million", ({ model, host, input }) => {
    expect(modelFacts(model, host).price?.input).toBe(input);
  });

  it.each([
    {
      name: "is the price of the maker at an unknown proxy if only the maker sells the model",
      model: "gpt-5",
      host: "custom",
      known: true,
    },
    {
      name: "is unknown at a proxy if others sell the model too",
      model: "glm-5.3",
      host: "custom",
      known: false,
    },
    {
      name: "is not the price of the maker at another host",
      model: "gpt-5",
      host: "openrouter",
      known: false,
    },
    {
      name: "is not the price of the maker for a deployment",
      model: "gpt-4.1",
      host: "azure_openai",
      known: false,
    },
    {
      name: "of one host does not apply to another",
      model: "llama-3.3-70b-versatile",
      host: "cerebras",
      known: false,
    },
  ])("$name", ({ model, host, known }) => {
    expect(modelFacts(model, host).price !== null).toBe(known);
    expect(modelFacts(model, host).pricedAt !== null).toBe(known);
  });

  it("has separate rates for cache writes and for long prompts, if these differ", () => {
    expect(modelFacts("gpt-6.2-sol", "openai").price).toEqual({
      input: 2,
      cached_input: 0.1,
      cache_write: 2.5,
      output: 10,
      long_prompt: { above: 272_000, input: 4, cached_input: 0.2, cache_write: 5, output: 15 },
    });
    expect(modelFacts("claude-opus-5-5", "anthropic").price).toEqual({
      input: 4,
      cached_input: 0.2,
      cache_write: 5,
      output: 20,
    });
    expect(modelFacts("gemini-2.5-pro", "google").price).not.toHaveProperty("sound");
    expect(modelFacts("gemini-2.5-flash", "google").price).toEqual({
      input: 0.3,
      cached_input: 0.03,
      output: 2.5,
      sound: 1,
    });
  });
});

describe("a model's window and output cap", () => {
  it.each([
    { model: "gpt-4.1", host: "azure_openai", window: 1_047_576, output: 32_768 },
    { model: "glm-5.3", host: "custom", window: 1_000_000, output: 131_072 },
    { model: "claude-3-5-haiku-20241022", host: "anthropic", window: 200_000, output: 8_192 },
  ])("are those of $model wherever it runs, as at $host", ({ model, host, window, output }) => {
    expect(modelFacts(model, host)).toMatchObject({
      contextWindow: window,
      maxOutputTokens: output,
    });
  });

  it("are low for an unlisted model", () => {
    expect(modelFacts("llama-99", "groq")).toBe(UNKNOWN_MODEL);
    expect(UNKNOWN_MODEL).toMatchObject({
      contextWindow: 128_000,
      maxOutputTokens: 16_384,
      price: null,
      pricedAt: null,
    });
  });
});

describe("the tables", () => {
  it("contain existing hosts, past days, and each model once per host", () => {
    for (const { host, pricedAt } of MODEL_GROUPS) {
      expect(HOSTS.map(({ id }) => id)).toContain(host);
      expect(pricedAt).toMatch(/^202[56]-\d{2}-\d{2}$/);
    }
    const names = MODEL_GROUPS.flatMap(({ host, rows }) =>
      Object.keys(rows).map((id) => `${host} ${id}`),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(
    MODEL_GROUPS.flatMap(({ host, rows }) =>
      Object.entries(rows).map(([id, row]) => ({ host, id, row })),
    ),
  )(
    "have plausible numbers for $id at $host",
    ({ row: [window, output, input, cached, out, write] }) => {
      expect(output).toBeLessThanOrEqual(window);
      expect(output).toBeGreaterThanOrEqual(4_096);
      expect(input).toBeGreaterThan(0);
      expect(cached).toBeLessThanOrEqual(input);
      expect(out).toBeGreaterThan(input);
      expect(write ?? input).toBeGreaterThanOrEqual(input);
    },
  );
});
