import type { McpFailure } from "./failures";
import { MAX_TRIES, RETRY_MS } from "./server-limits";

/**
 * Whether to retry a call, and after how many ms. Only if a retry is likely to succeed and cannot
 * do harm: the tool is safe to repeat, or the server lost the session and did nothing. `nth` counts
 * the tries so far. Pure.
 */
export function nextTry(
  { transient, forgotten }: McpFailure,
  nth: number,
  idempotent: boolean,
): { afterMs: number } | null {
  if (forgotten) return nth === 1 ? { afterMs: 0 } : null;
  return transient && idempotent && nth < MAX_TRIES ? { afterMs: RETRY_MS * 2 ** (nth - 1) } : null;
}
