/**
 * A server's breaker opens for `BREAKER_BASE_MS` after this many consecutive failures. Each further
 * failure doubles the time, up to `BREAKER_CAP_MS`.
 */
const BREAKER_FAILURES = 3;
const BREAKER_BASE_MS = 10_000;
const BREAKER_CAP_MS = 300_000;

/**
 * The circuit breaker of one server. After several consecutive failures it rejects requests for
 * a while, then admits one request as a probe. All times are Unix ms.
 */
export type Breaker = {
  /** Consecutive failures of the server. */
  failures: number;
  /** Requests are rejected until this time; `null` if the breaker is closed. */
  openUntil: number | null;
  /** Whether a probe request is in progress. */
  probing: boolean;
};

/** A breaker that admits every request. */
export const CLOSED: Breaker = { failures: 0, openUntil: null, probing: false };

/**
 * Decides whether a request may be sent now. If it may, `breaker` is the next state. Otherwise
 * `retryAt` is the earliest time for another try.
 */
export function admitRequest(
  breaker: Breaker,
  now: number,
): { ok: true; breaker: Breaker } | { ok: false; retryAt: number } {
  if (breaker.openUntil === null) return { ok: true, breaker };
  if (now < breaker.openUntil || breaker.probing)
    return { ok: false, retryAt: Math.max(breaker.openUntil, now) };
  return { ok: true, breaker: { ...breaker, probing: true } };
}

/** The state after the server answered without a server error: closed. */
export const afterSuccess = (): Breaker => CLOSED;

/** The state after one more failure: no answer, or a server error such as HTTP 5xx. */
export function afterFailure(breaker: Breaker, now: number): Breaker {
  const failures = breaker.failures + 1;
  if (failures < BREAKER_FAILURES) return { failures, openUntil: null, probing: false };
  const waitMs = Math.min(
    BREAKER_BASE_MS * 2 ** Math.min(failures - BREAKER_FAILURES, 10),
    BREAKER_CAP_MS,
  );
  return { failures, openUntil: now + waitMs, probing: false };
}

/**
 * The state after a request that says nothing about the server. The request was aborted or not
 * sent, or the same failure is already counted for another request. The next request may be a
 * probe.
 */
export const afterInconclusive = (breaker: Breaker): Breaker => ({ ...breaker, probing: false });

/**
 * The message for the model if a server's breaker is open. `subject` names the server at the start
 * of the sentence. `ms` is the time until a retry is allowed.
 */
export function breakerMessage(subject: string, ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return `${subject} has failed several times in a row and is not asked again for ${seconds} s. Go on without it, or try later.`;
}

/** The functions that return the next state of a breaker, by the outcome of a request. */
const TRANSITIONS = {
  answered: afterSuccess,
  failed: afterFailure,
  inconclusive: afterInconclusive,
};

/** The breakers of the servers in a session's config, by origin. */
export class Breakers {
  readonly #byOrigin = new Map<string, Breaker>();

  /**
   * Returns `null` if the request may be sent. The caller must then call `settle`. Otherwise
   * returns the time in ms until a retry is allowed.
   */
  admit(origin: string, now: number): number | null {
    const admission = admitRequest(this.#of(origin), now);
    if (!admission.ok) return admission.retryAt - now;
    this.#byOrigin.set(origin, admission.breaker);
    return null;
  }

  /** Updates the breaker of a server with the outcome of an admitted request. */
  settle(origin: string, outcome: keyof typeof TRANSITIONS, now: number): void {
    this.#byOrigin.set(origin, TRANSITIONS[outcome](this.#of(origin), now));
  }

  #of(origin: string): Breaker {
    return this.#byOrigin.get(origin) ?? CLOSED;
  }
}
