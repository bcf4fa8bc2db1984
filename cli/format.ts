import type { ToolProgress } from "../src/protocol/tool-news";

/** Figures as people read them. */

/** `1,234` up to ten thousand, then `12.3k` and `1.2M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 10_000) return tokens.toLocaleString("en-US");
  const [value, unit] = tokens < 999_950 ? [tokens / 1_000, "k"] : [tokens / 1_000_000, "M"];
  return `${value.toFixed(1)}${unit}`;
}

/** Four decimals below a dollar: calls cost fractions of a cent. */
export const formatUsd = (usd: number): string => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

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
export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
