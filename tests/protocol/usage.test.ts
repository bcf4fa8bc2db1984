import { describe, expect, it } from "vitest";
import type { Usage } from "../../src/protocol/events";
import { addUsage, NO_USAGE, measuresLength } from "../../src/protocol/usage";
import { unpricedAgents } from "../../src/protocol/team";
import { agentRules, teamRules } from "../builders/team-rules";

const usage = (changes: Partial<Usage> = {}): Usage => ({
  input_tokens: 10,
  output_tokens: 5,
  reasoning_tokens: 2,
  cached_tokens: 4,
  ...changes,
});
const doubled = { input_tokens: 20, output_tokens: 10, reasoning_tokens: 4, cached_tokens: 8 };

describe("the sum of two usages", () => {
  it.each<{ name: string; a: Usage; b: Usage; want: Usage }>([
    { name: "contains the sum of every field", a: usage(), b: usage(), want: doubled },
    {
      name: "contains cache writes that only one usage has",
      a: usage({ cache_write_tokens: 3 }),
      b: usage(),
      want: { ...doubled, cache_write_tokens: 3 },
    },
    {
      name: "contains the uses of each hosted tool",
      a: usage({ hosted_uses: { web_search: 1, x_search: 2 } }),
      b: usage({ hosted_uses: { web_search: 3, code_execution: 1 } }),
      want: { ...doubled, hosted_uses: { web_search: 4, x_search: 2, code_execution: 1 } },
    },
    {
      name: "omits optional fields that would be 0",
      a: usage({ cache_write_tokens: 0, hosted_uses: { web_search: 0 } }),
      b: usage({ hosted_uses: {} }),
      want: doubled,
    },
    {
      name: "omits the number of requests",
      a: usage({ requests: 2 }),
      b: usage(),
      want: doubled,
    },
    {
      name: "is the other usage if one usage is NO_USAGE",
      a: NO_USAGE,
      b: usage({ cache_write_tokens: 1 }),
      want: usage({ cache_write_tokens: 1 }),
    },
  ])("$name", ({ a, b, want }) => {
    expect(addUsage(a, b)).toEqual(want);
    expect(addUsage(b, a)).toEqual(want);
  });
});

describe("whether a usage measures the length of its conversation", () => {
  it.each<{ name: string; reported: Usage | null; measures: boolean }>([
    { name: "it does if it is of one request", reported: usage(), measures: true },
    {
      name: "it does if tokens were read from and written to a cache",
      reported: usage({ cached_tokens: 9, cache_write_tokens: 1 }),
      measures: true,
    },
    { name: "it does not if it is unknown", reported: null, measures: false },
    {
      name: "it does not if it is a reservation",
      reported: { ...NO_USAGE, output_tokens: 91_000 },
      measures: false,
    },
    {
      name: "it does not if hosted tools added their results",
      reported: usage({ hosted_uses: { code_execution: 1 } }),
      measures: false,
    },
    {
      name: "it does not if it is the sum of several requests",
      reported: usage({ requests: 2 }),
      measures: false,
    },
  ])("$name", ({ reported, measures }) => expect(measuresLength(reported)).toBe(measures));
});

it("unpricedAgents returns agents whose model or hosted tool has no known price", () => {
  const search = { name: "web_search", max_uses: 1, tokens_per_use: 1 } as const;
  const agents = [
    agentRules("priced", { hosted_tools: [{ ...search, usd_per_use: 0 }] }),
    agentRules("model", { price: null }),
    agentRules("tool", { hosted_tools: [{ ...search, usd_per_use: null }] }),
    agentRules("plain"),
  ];
  expect(unpricedAgents(teamRules(agents))).toEqual(["model", "tool"]);
});
