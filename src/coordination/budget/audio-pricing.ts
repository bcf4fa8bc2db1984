import type { Attachment } from "../../protocol/attachments";
import type { AgentRules, Price, TeamRules } from "../../protocol/team";

/**
 * The team's rules with the prices for a question with these attachments. If an attachment is
 * audio and an agent's model has a higher price for audio, all input tokens of that agent cost this
 * price.
 *
 * The reason: some providers do not report how many input tokens were audio, and a charge must not
 * be too low.
 */
export function withAudioPricing(
  rules: TeamRules,
  attachments: readonly Pick<Attachment, "kind">[],
): TeamRules {
  if (!attachments.some(({ kind }) => kind === "audio")) return rules;
  return { ...rules, agents: rules.agents.map(withAudioPrice) };
}

function withAudioPrice(agent: AgentRules): AgentRules {
  const { price } = agent;
  if (price?.sound === undefined || price.sound <= price.input) return agent;
  const factor = price.sound / price.input;
  const { long_prompt: long } = price;
  return {
    ...agent,
    price: {
      ...price,
      ...scaleRates(price, factor),
      input: price.sound,
      ...(long && { long_prompt: { ...long, ...scaleRates(long, factor) } }),
    },
  };
}

type Rates = Pick<Price, "input" | "cached_input" | "cache_write">;

const scaleRates = ({ input, cached_input, cache_write }: Rates, factor: number): Rates => ({
  input: input * factor,
  cached_input: cached_input * factor,
  ...(cache_write !== undefined && { cache_write: cache_write * factor }),
});
