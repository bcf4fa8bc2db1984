import type { McpFailure } from "./failures";
import { MAX_TRIES, RETRY_MS } from "./limits";

/**
 * Whether a call is tried again, and after which pause in ms. Only what may well succeed soon, and only where a second time does no
 * harm: the tool is known to be safe, or the server has forgotten the session and did nothing. `nth`: tries so far. Pure.
 */
export function nextTry(
  { transient, forgotten }: McpFailure,
  nth: number,
  idempotent: boolean,
): { afterMs: number } | null {
  if (forgotten) return nth === 1 ? { afterMs: 0 } : null;
  return transient && idempotent && nth < MAX_TRIES ? { afterMs: RETRY_MS * 2 ** (nth - 1) } : null;
}
