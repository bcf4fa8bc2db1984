import { describe, expect, it } from "vitest";
import type { Usage } from "../../src/protocol/events";
import { addUsage, NO_USAGE, measuresLength } from "../../src/protocol/usage";
import { unpricedAgents } from "../../src/protocol/team";
import { agentRules, teamRules } from "../builders/team-rules";

const usage = (more: Partial<Usage> = {}): Usage => ({
  input_tokens: 10,
  output_tokens: 5,
  reasoning_tokens: 2,
  cached_tokens: 4,
  ...more,
});
const twice = { input_tokens: 20, output_tokens: 10, reasoning_tokens: 4, cached_tokens: 8 };

describe("the sum of two usages", () => {
  it.each<{ name: string; a: Usage; b: Usage; want: Usage }>([
    { name: "adds every field", a: usage(), b: usage(), want: twice },
    {
      name: "adds cache writes that only one has",
      a: usage({ cache_write_tokens: 3 }),
      b: usage(),
      want: { ...twice, cache_write_tokens: 3 },
    },
    {
      name: "adds uses tool by tool",
      a: usage({ hosted_uses: { web_search: 1, x_search: 2 } }),
      b: usage({ hosted_uses: { web_search: 3, code_execution: 1 } }),
      want: { ...twice, hosted_uses: { web_search: 4, x_search: 2, code_execution: 1 } },
    },
    {
      name: "leaves out what is nothing",
      a: usage({ cache_write_tokens: 0, hosted_uses: { web_search: 0 } }),
      b: usage({ hosted_uses: {} }),
      want: twice,
    },
    {
      name: "omits the number of requests if one of them lacks it",
      a: usage({ requests: 2 }),
      b: usage(),
      want: twice,
    },
    {
      name: "with none is the usage itself",
      a: NO_USAGE,
      b: usage({ cache_write_tokens: 1 }),
      want: usage({ cache_write_tokens: 1 }),
    },
  ])("$name", ({ a, b, want }) => {
    expect(addUsage(a, b)).toEqual(want);
    expect(addUsage(b, a)).toEqual(want);
  });
});

describe("a usage contains the length of its conversation", () => {
  it.each<{ name: string; of: Usage | null; measures: boolean }>([
    { name: "if its provider counted one request", of: usage(), measures: true },
    {
      name: "with what was read from a cache",
      of: usage({ cached_tokens: 9, cache_write_tokens: 1 }),
      measures: true,
    },
    { name: "not if the usage is unknown", of: null, measures: false },
    {
      name: "not if the reservation replaces it",
      of: { ...NO_USAGE, output_tokens: 91_000 },
      measures: false,
    },
    {
      name: "not if hosted tools read their results",
      of: usage({ hosted_uses: { code_execution: 1 } }),
      measures: false,
    },
    {
      name: "not if several requests are counted together",
      of: usage({ requests: 2 }),
      measures: false,
    },
  ])("$name", ({ of, measures }) => expect(measuresLength(of)).toBe(measures));
});

it("names agents with a model or hosted tool of unknown price", () => {
  const search = { name: "web_search", max_uses: 1, tokens_per_use: 1 } as const;
  const agents = [
    agentRules("priced", { hosted_tools: [{ ...search, usd_per_use: 0 }] }),
    agentRules("model", { price: null }),
    agentRules("tool", { hosted_tools: [{ ...search, usd_per_use: null }] }),
    agentRules("plain"),
  ];
  expect(unpricedAgents(teamRules(agents))).toEqual(["model", "tool"]);
});
