import { MAX_TRIES, RETRY_MS } from "./server-limits";

/** A failed request to a server. */
export type McpFailure = {
  /**
   * The end of a sentence that begins with "The tool server". It contains the server's own text:
   * not cut, and secrets are not removed yet.
   */
  message: string;
  /** Whether the server may have processed the request. */
  wasReached: boolean;
  /** Whether a retry is likely to succeed soon. */
  isTransient: boolean;
  /** Whether the failure means that the server is down or broken. */
  isServerFault: boolean;
  /** Whether the server no longer knows the session. Then the server has done nothing. */
  isSessionLost: boolean;
};

/** Whether an error is the reason of a `TimeLimit`. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "TimeoutError";

/**
 * Returns the pause before a retry of a call; `null` if there is no retry. A call is retried only
 * if a retry is likely to succeed and can do no harm: the tool is safe to repeat, or the server has
 * lost the session and done nothing. `tries` is the number of tries so far.
 */
export function nextTry(
  { isTransient, isSessionLost }: McpFailure,
  tries: number,
  idempotent: boolean,
): { afterMs: number } | null {
  if (isSessionLost) return tries === 1 ? { afterMs: 0 } : null;
  return isTransient && idempotent && tries < MAX_TRIES
    ? { afterMs: RETRY_MS * 2 ** (tries - 1) }
    : null;
}
