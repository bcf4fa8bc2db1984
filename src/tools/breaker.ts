/**
 * Consecutive failures that open a server's breaker, and how long it stays open. The time doubles
 * with each further failure, up to the longest.
 */
const BREAKER_FAILURES = 3;
const BREAKER_MS = 10_000;
const BREAKER_LONGEST_MS = 300_000;

/**
 * The circuit breaker of one server. After consecutive failures it rejects requests for a while,
 * then admits one as a probe. Pure; times are Unix ms.
 */
export type Breaker = {
  /** Consecutive failures of the server. */
  failures: number;
  /** Requests are rejected until then; `null` if the breaker is closed. */
  openUntil: number | null;
  /** A probe request is in progress. */
  trying: boolean;
};

export const CLOSED: Breaker = { failures: 0, openUntil: null, trying: false };

/**
 * Whether a request may be sent now. If so, `breaker` is the next state; otherwise `retryAt` is the
 * earliest retry.
 */
export function admit(
  breaker: Breaker,
  now: number,
): { ok: true; breaker: Breaker } | { ok: false; retryAt: number } {
  if (breaker.openUntil === null) return { ok: true, breaker };
  if (now < breaker.openUntil || breaker.trying)
    return { ok: false, retryAt: Math.max(breaker.openUntil, now) };
  return { ok: true, breaker: { ...breaker, trying: true } };
}

/** The server answered, with any status that shows it works. */
export const succeeded = (): Breaker => CLOSED;

/** The server did not answer, or answered with a sign of failure. */
export function failed(breaker: Breaker, now: number): Breaker {
  const failures = breaker.failures + 1;
  if (failures < BREAKER_FAILURES) return { failures, openUntil: null, trying: false };
  const waitMs = Math.min(
    BREAKER_MS * 2 ** Math.min(failures - BREAKER_FAILURES, 10),
    BREAKER_LONGEST_MS,
  );
  return { failures, openUntil: now + waitMs, trying: false };
}

/** The request was aborted before its outcome was known. */
export const undecided = (breaker: Breaker): Breaker => ({ ...breaker, trying: false });

/**
 * The message for the model about a server whose breaker is open. `who` starts the sentence; `ms`
 * is the time until a retry.
 */
export function breakerMessage(who: string, ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return `${who} has failed several times in a row and is not asked again for ${seconds} s. Go on without it, or try later.`;
}

const AFTER = { answered: succeeded, failed, left: undecided };

/** The breakers of the servers in a session's config, by origin. */
export class Breakers {
  readonly #byOrigin = new Map<string, Breaker>();

  /**
   * `null`: the request may be sent, and `settle` must be called with its outcome. Otherwise the ms
   * until a retry.
   */
  admit(origin: string, now: number): number | null {
    const admitted = admit(this.#of(origin), now);
    if (!admitted.ok) return admitted.retryAt - now;
    this.#byOrigin.set(origin, admitted.breaker);
    return null;
  }

  /**
   * Reports the outcome of an admitted request; `left` if it was aborted before its outcome was
   * known.
   */
  settle(origin: string, how: keyof typeof AFTER, now: number): void {
    this.#byOrigin.set(origin, AFTER[how](this.#of(origin), now));
  }

  #of(origin: string): Breaker {
    return this.#byOrigin.get(origin) ?? CLOSED;
  }
}
