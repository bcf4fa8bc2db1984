import type { Usage } from "../../../src/protocol/events";
import type { AgentRules } from "../../../src/protocol/team";

/** What a usage costs at an agent's prices, worked out apart from the rules' own arithmetic. Unknown prices count as 0. */
export function priceOf(agent: AgentRules | undefined, usage: Usage): number {
  const { price = null, hosted_tools: tools = [] } = agent ?? {};
  const { input_tokens, cached_tokens, cache_write_tokens: written = 0, output_tokens, hosted_uses = {} } = usage;
  let usd = 0;
  for (const { name, usd_per_use } of tools) usd += (hosted_uses[name] ?? 0) * (usd_per_use ?? 0);
  if (!price) return usd;
  const { long_prompt: long } = price;
  const { input, cached_input, cache_write = input, output } = long && input_tokens > long.above ? long : price;
  const millions = (tokens: number): number => tokens / 1_000_000;
  usd += millions(input_tokens - cached_tokens - written) * input + millions(cached_tokens) * cached_input;
  return usd + millions(written) * cache_write + millions(output_tokens) * output;
}
