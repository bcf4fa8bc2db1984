import type { ModelRequest } from "../providers/provider";
import type { Usage } from "../protocol/events";
import { inputTokenBound } from "./conversation";
import { tellsLength } from "../protocol/usage";

/** Bytes that make a token of most texts; the bound counts each byte as one. */
const BYTES_PER_TOKEN = 4;
/** What replies take at a guess: an answer, or a few tool calls. */
const REPLY_TOKENS = 1_000;

/** About how many tokens a request holds. `calibration`: what a provider's own counts were of this estimate so far. */
export const estimatedInput = (request: ModelRequest, calibration = 1): number =>
  Math.ceil((inputTokenBound(request) / BYTES_PER_TOKEN) * calibration);

/**
 * What a call will take at a guess, input and output together: for limits that a provider sets by what calls really take, not for
 * money. Put right when the call has ended.
 */
export const expectedTokens = (request: ModelRequest, calibration = 1): number =>
  estimatedInput(request, calibration) +
  Math.min(REPLY_TOKENS, request.maxOutputTokens ?? REPLY_TOKENS);

/** What a call has taken; null where nobody knows. */
export const tokensTaken = (usage: Usage | null): number | null =>
  usage && usage.input_tokens + usage.output_tokens;

/** Requests smaller than this say more about what providers add than about how they count. */
const LEAST_TOKENS = 500;
/** Texts of any language, and tokens of any model, lie within these; what does not was counted otherwise. */
const BOUNDS = { least: 0.5, most: 4 } as const;
/** How much a new count weighs against those before. */
const WEIGHT = 0.5;

/** What providers' own counts of tokens were of our estimates so far, by agent. In memory only: the next call tells again. */
export class Calibrations {
  readonly #known = new Map<number, number>();

  /** 1 where nothing is known. */
  of(agent: number): number {
    return this.#known.get(agent) ?? 1;
  }

  /**
   * A call was estimated at so many tokens of input, uncalibrated, and its provider counted. What was in its input besides the
   * conversation nobody estimated, so such a call says nothing.
   */
  note(agent: number, estimated: number, usage: Usage | null): void {
    if (estimated < LEAST_TOKENS || !tellsLength(usage)) return;
    const counted = Math.min(BOUNDS.most, Math.max(BOUNDS.least, usage.input_tokens / estimated));
    const known = this.#known.get(agent);
    this.#known.set(agent, known === undefined ? counted : known + (counted - known) * WEIGHT);
  }
}
