import { bytesWithin, estimateTokens } from "./estimate-tokens";

/** The longest beginning of a text that is estimated at no more than so many tokens. No character is halved. */
export function previewOf(text: string, tokens: number, calibration = 1): string {
  if (tokens <= 0) return "";
  // A character takes a byte or more, so nothing beyond this can be part of it, and a text of megabytes is not measured in full.
  const candidate = text.slice(0, bytesWithin(tokens, calibration) + 1);
  let fits = 0;
  let tooLong = candidate.length + 1;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (estimateTokens(candidate.slice(0, middle), calibration) <= tokens) fits = middle;
    else tooLong = middle;
  }
  return candidate.slice(0, beforePair(text, fits));
}

/** The same position, or the one before it where it would halve a surrogate pair. */
export function beforePair(text: string, position: number): number {
  const halves =
    isHighSurrogate(text.charCodeAt(position - 1)) && isLowSurrogate(text.charCodeAt(position));
  return halves ? position - 1 : position;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
