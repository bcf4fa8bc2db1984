import type { ModelRequest } from "../providers/provider";
import type { Usage } from "../protocol/events";
import { inputTokenBound } from "./conversation";
import { measuresLength } from "../protocol/usage";

/**
 * Bytes per token of typical text. `inputTokenBound`, an upper bound, assumes one byte per token.
 */
const BYTES_PER_TOKEN = 4;
/** Estimated tokens of a reply: an answer or a few tool calls. */
const REPLY_TOKENS = 1_000;

/**
 * Estimated input tokens of a request. `calibration` corrects the estimate for a provider. It is
 * the ratio of the provider's counts to the estimates without calibration.
 */
export const estimatedInput = (request: ModelRequest, calibration = 1): number =>
  Math.ceil((inputTokenBound(request) / BYTES_PER_TOKEN) * calibration);

/**
 * Expected tokens of a call, input and output together. They are reserved in the provider's rate
 * limits, and the actual usage replaces them after the call. Do not use them for costs: they are no
 * upper bound.
 */
export const expectedTokens = (request: ModelRequest, calibration = 1): number =>
  estimatedInput(request, calibration) +
  Math.min(REPLY_TOKENS, request.maxOutputTokens ?? REPLY_TOKENS);

/** Actual tokens of a call; `null` if unknown. */
export const tokensTaken = (usage: Usage | null): number | null =>
  usage && usage.input_tokens + usage.output_tokens;

/**
 * A request with fewer tokens gives no ratio: the text that its provider adds is too large a part
 * of the provider's count.
 */
const MIN_TOKENS = 500;
/** Every language and tokenizer has a ratio within these bounds. */
const RATIO_BOUNDS = { min: 0.5, max: 4 } as const;
/** Weight of the newest ratio; the earlier ratios have the rest. */
const NEWEST_WEIGHT = 0.5;

/**
 * Ratio of providers' token counts to our estimates, by agent. It is not stored, because the next
 * call measures it again.
 */
export class Calibrations {
  readonly #ratios = new Map<number, number>();

  /** The agent's ratio; 1 if unknown. */
  of(agent: number): number {
    return this.#ratios.get(agent) ?? 1;
  }

  /**
   * Records the ratio of one call. `estimated` is the estimate without calibration. Ignores a call
   * whose reported input tokens are not the length of its conversation, for example because they
   * include results of hosted tools.
   */
  note(agent: number, estimated: number, usage: Usage | null): void {
    if (estimated < MIN_TOKENS || !measuresLength(usage)) return;
    const { min, max } = RATIO_BOUNDS;
    const newest = Math.min(max, Math.max(min, usage.input_tokens / estimated));
    const earlier = this.#ratios.get(agent);
    this.#ratios.set(
      agent,
      earlier === undefined ? newest : earlier + (newest - earlier) * NEWEST_WEIGHT,
    );
  }
}
