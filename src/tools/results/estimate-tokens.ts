import { byteLength } from "../../coordination/byte-length";

/** UTF-8 bytes that make a token where nothing better is known. */
const BYTES_PER_TOKEN = 4;

/**
 * About how many tokens a text is. `calibration` is what a provider's own counts were of this estimate so far (1: exactly as
 * estimated). Longer texts never count for less: a preview is found by that.
 */
export const estimateTokens = (text: string, calibration = 1): number =>
  Math.ceil((byteLength(text) / BYTES_PER_TOKEN) * calibration);

/** The most UTF-8 bytes that are surely estimated at no more than so many tokens. */
export const bytesWithin = (tokens: number, calibration = 1): number =>
  Math.floor((tokens * BYTES_PER_TOKEN) / calibration);
