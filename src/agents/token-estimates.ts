import type { ModelRequest } from "../providers/provider";
import type { Usage } from "../protocol/events";
import { inputTokenBound } from "./conversation";
import { measuresLength } from "../protocol/usage";

/** Bytes per token of typical text; the upper bound counts one. */
const BYTES_PER_TOKEN = 4;
/** Estimated tokens of a reply: an answer or a few tool calls. */
const REPLY_TOKENS = 1_000;

/**
 * Estimated input tokens of a request. `calibration` is the ratio of the provider's counts to this
 * estimate.
 */
export const estimatedInput = (request: ModelRequest, calibration = 1): number =>
  Math.ceil((inputTokenBound(request) / BYTES_PER_TOKEN) * calibration);

/**
 * Expected tokens of a call, input and output together, for a provider's rate limits, which count
 * actual usage. Do not use it for cost. Corrected after the call.
 */
export const expectedTokens = (request: ModelRequest, calibration = 1): number =>
  estimatedInput(request, calibration) +
  Math.min(REPLY_TOKENS, request.maxOutputTokens ?? REPLY_TOKENS);

/** Actual tokens of a call; `null` if unknown. */
export const tokensTaken = (usage: Usage | null): number | null =>
  usage && usage.input_tokens + usage.output_tokens;

/** In smaller requests, the text that providers add dominates the count. */
const LEAST_TOKENS = 500;
/** Any language and tokenizer is within these bounds; other ratios are not comparable. */
const BOUNDS = { least: 0.5, most: 4 } as const;
/** Weight of a new count against the earlier ones. */
const WEIGHT = 0.5;

/**
 * Ratio of providers' token counts to our estimates, by agent. In memory only, because the next
 * call gives it again.
 */
export class Calibrations {
  readonly #known = new Map<number, number>();

  /** 1 if unknown. */
  of(agent: number): number {
    return this.#known.get(agent) ?? 1;
  }

  /**
   * Records the estimated input tokens of a call, uncalibrated, and the provider's count. Ignores
   * calls whose input includes more than the conversation.
   */
  note(agent: number, estimated: number, usage: Usage | null): void {
    if (estimated < LEAST_TOKENS || !measuresLength(usage)) return;
    const counted = Math.min(BOUNDS.most, Math.max(BOUNDS.least, usage.input_tokens / estimated));
    const known = this.#known.get(agent);
    this.#known.set(agent, known === undefined ? counted : known + (counted - known) * WEIGHT);
  }
}
