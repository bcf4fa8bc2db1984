import type { Attachment } from "../../protocol/attachments";
import type { AgentRules, Price, TeamRules } from "../../protocol/team";

/**
 * The rules for a turn with what came with its question: where sound did, an agent whose model reads sound at a higher price pays
 * that price for all its input. Not every provider says how much of a call's input was sound, and a price may not be too low.
 */
export function pricedWith(
  rules: TeamRules,
  attachments: readonly Pick<Attachment, "kind">[],
): TeamRules {
  if (!attachments.some(({ kind }) => kind === "audio")) return rules;
  return { ...rules, agents: rules.agents.map(hearing) };
}

function hearing(agent: AgentRules): AgentRules {
  const { price } = agent;
  if (price?.sound === undefined || price.sound <= price.input) return agent;
  const times = price.sound / price.input;
  const { long_prompt: long } = price;
  return {
    ...agent,
    price: {
      ...price,
      ...dearer(price, times),
      input: price.sound,
      ...(long && { long_prompt: { ...long, ...dearer(long, times) } }),
    },
  };
}

type Rates = Pick<Price, "input" | "cached_input" | "cache_write">;

const dearer = ({ input, cached_input, cache_write }: Rates, times: number): Rates => ({
  input: input * times,
  cached_input: cached_input * times,
  ...(cache_write !== undefined && { cache_write: cache_write * times }),
});
