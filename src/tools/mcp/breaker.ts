import { BREAKER_FAILURES, BREAKER_LONGEST_MS, BREAKER_MS } from "./limits";

/**
 * The circuit breaker of one server: after a few failures in a row nothing is sent for a while, then one request tries it. Pure;
 * times are Unix ms.
 */
export type Breaker = {
  /** Failures of the server in a row. */
  failures: number;
  /** Nothing is sent before; null: closed. */
  openUntil: number | null;
  /** One request is under way to see whether the server is back. */
  trying: boolean;
};

export const CLOSED: Breaker = { failures: 0, openUntil: null, trying: false };

/** Whether a request may be sent now; if so, the breaker from then on. `retryAt`: when one may be. */
export function admit(breaker: Breaker, now: number): { ok: true; breaker: Breaker } | { ok: false; retryAt: number } {
  if (breaker.openUntil === null) return { ok: true, breaker };
  if (now < breaker.openUntil || breaker.trying) return { ok: false, retryAt: Math.max(breaker.openUntil, now) };
  return { ok: true, breaker: { ...breaker, trying: true } };
}

/** The server answered, whatever it said. */
export const succeeded = (): Breaker => CLOSED;

/** The server did not answer, or as servers do that are broken. */
export function failed(breaker: Breaker, now: number): Breaker {
  const failures = breaker.failures + 1;
  if (failures < BREAKER_FAILURES) return { failures, openUntil: null, trying: false };
  const waitMs = Math.min(BREAKER_MS * 2 ** Math.min(failures - BREAKER_FAILURES, 10), BREAKER_LONGEST_MS);
  return { failures, openUntil: now + waitMs, trying: false };
}

/** The request was given up before the server could show anything. */
export const undecided = (breaker: Breaker): Breaker => ({ ...breaker, trying: false });
