import { formatUsd } from "../protocol/cost";
import type { ToolProgress } from "../protocol/events/tool";

/** Functions that format numbers and durations for people. */

/** Formats a number of tokens: `1,234` below ten thousand, then `12.3k` or `1.2M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 10_000) return tokens.toLocaleString("en-US");
  const [value, unit] = tokens < 999_950 ? [tokens / 1_000, "k"] : [tokens / 1_000_000, "M"];
  return `${value.toFixed(1)}${unit}`;
}

/**
 * Formats a cost in US dollars. `usd` is `null` if a part of the cost has no known price; `known`
 * is the sum of all parts with a known price.
 */
export function formatCost(usd: number | null, known: number): string {
  if (usd !== null) return formatUsd(usd);
  return known > 0 ? `unknown, at least ${formatUsd(known)}` : "unknown";
}

/**
 * Formats a usage: the tokens that providers reported, and the tokens that were reserved for calls
 * without a report.
 */
export const formatUsed = (
  { reported, reserved }: { reported: number; reserved: number },
  unit: string,
): string =>
  `${formatTokens(reported)} ${unit}${reserved > 0 ? ` + ${formatTokens(reserved)} reserved` : ""}`;

/** Formats the tokens that a turn has used, with input and output tokens. */
export function tokenWords(
  usage: { input_tokens: number; output_tokens: number },
  reserved: number,
): string {
  const { input_tokens: input, output_tokens: output } = usage;
  const reservedWords =
    reserved > 0 ? `, and ${formatTokens(reserved)} reserved by calls that reported nothing` : "";
  return `${formatTokens(input + output)} (in ${formatTokens(input)}, out ${formatTokens(output)})${reservedWords}`;
}

/** Formats a duration as `mm:ss`, or as `h:mm:ss` from one hour on. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60) % 60;
  const hours = Math.floor(seconds / 3600);
  const twoDigits = (value: number) => String(value).padStart(2, "0");
  return `${hours > 0 ? `${hours}:` : ""}${twoDigits(minutes)}:${twoDigits(seconds % 60)}`;
}

/** Formats the progress of a tool: `3 of 10, reads pages (https://tools.example.com)`. */
export function formatProgress({ origin, progress, total, message }: ToolProgress): string {
  const count = total === null ? `${progress}` : `${progress} of ${total}`;
  return `${message ? `${count}, ${message}` : count} (${origin})`;
}

/** Formats a count with its noun: `1 answer`, `2 answers`. */
export const plural = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? "" : "s"}`;

/** Formats the cost of a turn or an agent. */
export const costWords = ({
  costUsd,
  isCostWhole,
}: {
  /** US dollars of all calls with a known price. */
  costUsd: number;
  /** Whether every call has a known price. */
  isCostWhole: boolean;
}): string => formatCost(isCostWhole ? costUsd : null, costUsd);
