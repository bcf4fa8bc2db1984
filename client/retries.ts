import { ClientError } from "./errors";
import { sleep } from "./sleep";

/**
 * When a call is repeated.
 * - `never`: one try.
 * - `start`: 4 tries. Repeats a broken connection and a 503 with `Retry-After`. For calls with an
 *   idempotency key.
 * - `transfer`: 6 tries. Also repeats a failed connection, a timeout, and 429. For calls that may
 *   arrive twice.
 */
export type RetryPolicy = "never" | "start" | "transfer";

type Limits = {
  tries: number;
  /** Tries without an answer that are repeated. */
  unanswered: number;
  /** Answers that ask to retry. */
  statuses: readonly number[];
  /** An answer that asks for a longer wait is final. */
  maxWaitMs: number;
  /** Wait after an answer without `Retry-After`; `null`: such an answer is final. */
  defaultWaitMs: number | null;
};

const LIMITS: Record<RetryPolicy, Limits> = {
  never: { tries: 1, unanswered: 0, statuses: [], maxWaitMs: 0, defaultWaitMs: null },
  start: { tries: 4, unanswered: 3, statuses: [503], maxWaitMs: 10_000, defaultWaitMs: null },
  transfer: {
    tries: 6,
    unanswered: 3,
    statuses: [429, 503],
    maxWaitMs: 60_000,
    defaultWaitMs: 1_000,
  },
};
const FIRST_WAIT_MS = 500;

type Answer = Pick<Response, "status" | "headers"> & { body?: Response["body"] };

/**
 * Calls `once` until its answer is final. The wait doubles with each try, and is at least what the
 * answer asks for.
 */
export async function withRetries<A extends Answer>(
  once: () => Promise<A>,
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
): Promise<A> {
  const limits = LIMITS[policy];
  for (let tries = 1; ; tries += 1) {
    const answer = await once().catch((error: unknown) => {
      if (tries > limits.unanswered || !mayRepeat(error, policy, tries)) throw error;
      return null;
    });
    const asked = answer ? retryAfterMs(answer, limits) : 0;
    if (answer && (asked === null || tries >= limits.tries)) return answer;
    await answer?.body?.cancel(); // frees the connection of a response that was not read
    await sleep(Math.max(asked ?? 0, FIRST_WAIT_MS * 2 ** (tries - 1)), signal);
  }
}

/** How long an answer asks to wait, in milliseconds; `null` if the answer is final. */
function retryAfterMs({ status, headers }: Answer, limits: Limits): number | null {
  if (!limits.statuses.includes(status)) return null;
  const text = headers.get("retry-after");
  const ms = text === null ? limits.defaultWaitMs : Number(text) * 1000;
  return ms !== null && ms <= limits.maxWaitMs ? ms : null;
}

/**
 * Whether a call without an answer is worth another try. A start is repeated if its connection
 * broke: it may have begun, and its idempotency key finds it. A refused connection means that
 * nothing listens, unless an earlier try got through.
 */
function mayRepeat(error: unknown, policy: RetryPolicy, tries: number): boolean {
  if (!(error instanceof ClientError)) return false;
  const { kind, cause } = error;
  const isBroken = kind === "unreachable" || kind === "interrupted";
  if (policy === "transfer") return isBroken || kind === "timed_out";
  const code = systemCode(cause);
  return isBroken && (code === null || BROKEN.has(code) || (tries > 1 && code === "ECONNREFUSED"));
}

const BROKEN: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/**
 * The system's code, which Node's `fetch` wraps in an error of its own; `null` in browsers and
 * workerd, which give none.
 */
function systemCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return code || (error.cause === undefined ? null : (systemCode(error.cause) ?? ""));
}
