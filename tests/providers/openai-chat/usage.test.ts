import { expect, it } from "vitest";
import { decodeUsage } from "../../../src/providers/openai-chat/decode";

it.each([
  {
    name: "more tokens than any call can have",
    usage: { prompt_tokens: 9e15, completion_tokens: 1 },
  },
  {
    name: "numbers beyond all limits",
    usage: { prompt_tokens: Number.POSITIVE_INFINITY, completion_tokens: 1e300 },
  },
  { name: "negative counts", usage: { prompt_tokens: -5, completion_tokens: -5 } },
  { name: "words", usage: { prompt_tokens: "many", completion_tokens: null } },
])("treats $name as no report, and every sum stays an exact integer", ({ usage }) => {
  const decoded = decodeUsage(usage);
  for (const count of Object.values(decoded ?? {})) {
    expect(Number.isSafeInteger(count)).toBe(true);
    expect(count).toBeLessThanOrEqual(1_000_000_000);
  }
  expect(decoded?.input_tokens ?? 0).toBe(0);
});

it("rounds fractions down", () => {
  expect(decodeUsage({ prompt_tokens: 10.5, completion_tokens: 2 })).toMatchObject({
    input_tokens: 10,
    output_tokens: 2,
  });
});

it.each([
  {
    name: "together with cache reads",
    details: { cached_tokens: 60, cache_write_tokens: 30 },
    counts: { cached_tokens: 60, cache_write_tokens: 30 },
  },
  {
    name: "as parts of the input",
    details: { cached_tokens: 60, cache_write_tokens: 90 },
    counts: { cached_tokens: 60, cache_write_tokens: 40 },
  },
])("counts cache writes $name", ({ details, counts }) => {
  expect(
    decodeUsage({ prompt_tokens: 100, completion_tokens: 2, prompt_tokens_details: details }),
  ).toMatchObject(counts);
});
