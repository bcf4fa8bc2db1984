import type { ModelRequest } from "../providers/provider";
import type { Usage } from "../protocol/events";
import { inputTokenBound } from "./conversation";

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
