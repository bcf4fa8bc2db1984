import { formatUsd } from "../protocol/cost";
import type { ToolProgress } from "../protocol/events/tool";

/** Figures in the form people read. */

/** `1,234` up to ten thousand, then `12.3k` and `1.2M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 10_000) return tokens.toLocaleString("en-US");
  const [value, unit] = tokens < 999_950 ? [tokens / 1_000, "k"] : [tokens / 1_000_000, "M"];
  return `${value.toFixed(1)}${unit}`;
}

/**
 * A cost in US dollars; `null` if any part has no known price, then `known` is the sum of the rest.
 */
export function formatCost(usd: number | null, known: number): string {
  if (usd !== null) return formatUsd(usd);
  return known > 0 ? `unknown, at least ${formatUsd(known)}` : "unknown";
}

/** Tokens that providers reported, and those that calls without a report had reserved. */
export const formatUsed = (
  { reported, reserved }: { reported: number; reserved: number },
  unit: string,
): string =>
  `${formatTokens(reported)} ${unit}${reserved > 0 ? ` + ${formatTokens(reserved)} reserved` : ""}`;

/** What a turn has used, with its input and output. */
export function tokenWords(
  usage: { input_tokens: number; output_tokens: number },
  reserved: number,
): string {
  const { input_tokens: input, output_tokens: output } = usage;
  const rest =
    reserved > 0 ? `, and ${formatTokens(reserved)} reserved by calls that reported nothing` : "";
  return `${formatTokens(input + output)} (in ${formatTokens(input)}, out ${formatTokens(output)})${rest}`;
}

/** `mm:ss`, with hours where there are any. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60) % 60;
  const hours = Math.floor(seconds / 3600);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${hours > 0 ? `${hours}:` : ""}${two(minutes)}:${two(seconds % 60)}`;
}

/** `3 of 10, reads pages (https://tools.example.com)`. */
export function formatProgress({ origin, progress, total, message }: ToolProgress): string {
  const far = total === null ? `${progress}` : `${progress} of ${total}`;
  return `${message ? `${far}, ${message}` : far} (${origin})`;
}

/** `1 answer`, `2 answers`. */
export const plural = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? "" : "s"}`;

/** Cost of a turn or an agent. */
export const costWords = ({
  costUsd,
  isCostWhole,
}: {
  /** US dollars of all calls with a known price. */
  costUsd: number;
  /** Whether every call has a known price. */
  isCostWhole: boolean;
}): string => formatCost(isCostWhole ? costUsd : null, costUsd);
