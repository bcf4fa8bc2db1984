import { describe, expect, it } from "vitest";
import { errorsOf, FULL_CONTEXT, NONE_SERVED, teamOf, teamWith, warningsOf } from "./teams";

const ratesOf = (backend: string) =>
  teamOf(teamWith(backend), FULL_CONTEXT).agents[0]?.backend.rates;

describe("a backend uses", () => {
  it.each([
    {
      name: "MassGen's default limits of its model if it only enables rate limits",
      backend: "type: gemini\nmodel: gemini-2.5-flash\nenable_rate_limit: true",
      rates: { requestsPerMinute: 9, tokensPerMinute: 240_000, requestsPerDay: 245 },
    },
    {
      name: "MassGen's default limits of another model",
      backend: "type: gemini\nmodel: gemini-2.5-pro\nenable_rate_limit: true",
      rates: { requestsPerMinute: 2, tokensPerMinute: 120_000, requestsPerDay: 48 },
    },
    {
      name: "MassGen's default limits for all other models",
      backend: "type: gemini\nmodel: gemini-3.8-flash\nenable_rate_limit: true",
      rates: { requestsPerMinute: 7, tokensPerMinute: 100_000, requestsPerDay: 100 },
    },
    {
      name: "its own limits in place of the defaults",
      backend:
        "type: gemini\nmodel: gemini-2.5-pro\nenable_rate_limit: true\nrate_limits: {rpm: 150, tpd: 5000000}",
      rates: {
        requestsPerMinute: 150,
        tokensPerMinute: 120_000,
        requestsPerDay: 48,
        tokensPerDay: 5_000_000,
      },
    },
    {
      name: "only its own limits if it does not enable the defaults",
      backend: "type: gemini\nrate_limits: {rpm: 150}",
      rates: { requestsPerMinute: 150 },
    },
    {
      name: "its own limits at any provider",
      backend: "type: openai\nrate_limits: {rpd: 7}",
      rates: { requestsPerDay: 7 },
    },
    {
      name: "no limits that are disabled",
      backend: "type: gemini\nenable_rate_limit: false\nrate_limits: {rpm: 1}",
      rates: undefined,
    },
    { name: "no limits by default", backend: "type: gemini", rates: undefined },
  ])("$name", ({ backend, rates }) => expect(ratesOf(backend)).toEqual(rates));
});

describe("a warning or error reports", () => {
  it("that the default limits are unknown", () => {
    expect(warningsOf(teamWith("type: openai\nenable_rate_limit: true"))).toEqual([
      expect.stringContaining(
        "`enable_rate_limit` has no effect: the default limits of OpenAI are unknown. Write `rate_limits:",
      ),
    ]);
  });

  it("that limits are ignored if sessions do not support them", () => {
    const context = { ...FULL_CONTEXT, served: NONE_SERVED };
    expect(warningsOf(teamWith("type: gemini\nenable_rate_limit: true"), context)).toEqual([
      expect.stringContaining("`enable_rate_limit` is ignored"),
    ]);
  });

  it.each([
    ["rate_limits: {rpm: 0}", "5:26 out_of_range /agents/0/backend/rate_limits/rpm"],
    ["rate_limits: {requests: 5}", "5:21 unknown_key /agents/0/backend/rate_limits/requests"],
    ["rate_limits: [5]", "5:20 wrong_type /agents/0/backend/rate_limits"],
    ["enable_rate_limit: often", "5:26 wrong_type /agents/0/backend/enable_rate_limit"],
  ])("an invalid value: %s", (line, error) => {
    expect(errorsOf(teamWith(`type: gemini\n${line}`), FULL_CONTEXT)).toEqual([error]);
  });
});
