import type { CostFields } from "../src/protocol/cost";
import type { EventOf, Usage } from "../src/protocol/events";
import type { AgentRules } from "../src/protocol/team";

/** Tokens and dollars. */
export type Amount = { tokens: number; usd: number };

export const NOTHING: Amount = { tokens: 0, usd: 0 };

export const plus = (a: Amount, b: Amount): Amount => ({
  tokens: a.tokens + b.tokens,
  usd: a.usd + b.usd,
});

/** The known part of a cost, in dollars. */
export const usdOf = ({ cost_usd, cost_usd_known }: CostFields): number =>
  cost_usd ?? cost_usd_known ?? 0;

/** The logged charge of a call. */
export const chargeOf = (event: EventOf<"call.completed" | "call.failed">): Amount =>
  event.type === "call.failed"
    ? { tokens: event.tokens, usd: usdOf(event) }
    : { tokens: event.usage.input_tokens + event.usage.output_tokens, usd: usdOf(event) };

/** Whether a call has tokens or uses of hosted tools without a known price. */
export function hasUnknownPart(
  agent: AgentRules | undefined,
  tokens: number,
  uses: Usage["hosted_uses"],
): boolean {
  if (!agent || tokens === 0) return false;
  return (
    agent.price === null ||
    (agent.hosted_tools ?? []).some(
      (tool) => tool.usd_per_use === null && (uses?.[tool.name] ?? 0) > 0,
    )
  );
}

/**
 * The price of a usage for an agent, computed without the code of the rules. Unknown prices count
 * as 0.
 */
export function priceOf(agent: AgentRules | undefined, usage: Usage): number {
  const { price = null, hosted_tools: tools = [] } = agent ?? {};
  const {
    input_tokens,
    cached_tokens,
    cache_write_tokens = 0,
    output_tokens,
    hosted_uses = {},
  } = usage;
  let usd = 0;
  for (const { name, usd_per_use } of tools) usd += (hosted_uses[name] ?? 0) * (usd_per_use ?? 0);
  if (!price) return usd;
  const { long_prompt: long } = price;
  const {
    input,
    cached_input,
    cache_write = input,
    output,
  } = long && input_tokens > long.above ? long : price;
  const millions = (tokens: number): number => tokens / 1_000_000;
  usd +=
    millions(input_tokens - cached_tokens - cache_write_tokens) * input +
    millions(cached_tokens) * cached_input;
  return usd + millions(cache_write_tokens) * cache_write + millions(output_tokens) * output;
}

/** Upper bound of a call's price: all input has the highest rate. Unknown prices count as 0. */
export function maxCost({ price }: AgentRules, inputTokens: number, outputTokens: number): number {
  if (!price) return 0;
  const { long_prompt: long } = price;
  const {
    input,
    cached_input,
    cache_write = 0,
    output,
  } = long && inputTokens > long.above ? long : price;
  return (
    (inputTokens * Math.max(input, cached_input, cache_write) + outputTokens * output) / 1_000_000
  );
}
