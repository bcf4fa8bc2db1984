/** Failures in a row that open a server's breaker, and for how long. It doubles up to the longest. */
const BREAKER_FAILURES = 3;
const BREAKER_MS = 10_000;
const BREAKER_LONGEST_MS = 300_000;

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
export function admit(
  breaker: Breaker,
  now: number,
): { ok: true; breaker: Breaker } | { ok: false; retryAt: number } {
  if (breaker.openUntil === null) return { ok: true, breaker };
  if (now < breaker.openUntil || breaker.trying)
    return { ok: false, retryAt: Math.max(breaker.openUntil, now) };
  return { ok: true, breaker: { ...breaker, trying: true } };
}

/** The server answered, whatever it said. */
export const succeeded = (): Breaker => CLOSED;

/** The server did not answer, or as servers do that are broken. */
export function failed(breaker: Breaker, now: number): Breaker {
  const failures = breaker.failures + 1;
  if (failures < BREAKER_FAILURES) return { failures, openUntil: null, trying: false };
  const waitMs = Math.min(
    BREAKER_MS * 2 ** Math.min(failures - BREAKER_FAILURES, 10),
    BREAKER_LONGEST_MS,
  );
  return { failures, openUntil: now + waitMs, trying: false };
}

/** The request was given up before the server could show anything. */
export const undecided = (breaker: Breaker): Breaker => ({ ...breaker, trying: false });

/** What a model is told of a server that is not asked. `who`: begins a sentence. `ms`: until it may be. */
export function resting(who: string, ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return `${who} has failed several times in a row and is not asked again for ${seconds} s. Go on without it, or try later.`;
}

const AFTER = { answered: succeeded, failed, left: undecided };

/** The breakers of several servers, by origin: of those that the config of a session names. */
export class Breakers {
  readonly #byOrigin = new Map<string, Breaker>();

  /** Null: a request may be sent now, and `settle` must hear how it went. Else for how many ms none may be. */
  admit(origin: string, now: number): number | null {
    const admitted = admit(this.#of(origin), now);
    if (!admitted.ok) return admitted.retryAt - now;
    this.#byOrigin.set(origin, admitted.breaker);
    return null;
  }

  /** How an admitted request went: `left` where it was given up before the server could show anything. */
  settle(origin: string, how: keyof typeof AFTER, now: number): void {
    this.#byOrigin.set(origin, AFTER[how](this.#of(origin), now));
  }

  #of(origin: string): Breaker {
    return this.#byOrigin.get(origin) ?? CLOSED;
  }
}
