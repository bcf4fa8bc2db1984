import { ClientError } from "./errors";
import { sleep } from "./sleep";

/**
 * When a call is retried.
 * - `never`: the call is sent once.
 * - `start`: up to 4 tries. Retries after a broken connection or a 503 with `Retry-After`. For
 *   calls with an idempotency key.
 * - `transfer`: up to 6 tries. Also retries after a failed connection, a timeout or a 429. For
 *   calls that may arrive twice.
 */
export type RetryPolicy = "never" | "start" | "transfer";

type Limits = {
  /** Most tries, including the first. */
  tries: number;
  /** Most retries if tries have no response. */
  retriesWithoutResponse: number;
  /** Statuses of responses after which the call is retried. */
  statuses: readonly number[];
  /** A response with a longer `Retry-After` is final. */
  maxWaitMs: number;
  /** Wait after a response without `Retry-After`; `null` if such a response is final. */
  defaultWaitMs: number | null;
};

const LIMITS: Record<RetryPolicy, Limits> = {
  never: { tries: 1, retriesWithoutResponse: 0, statuses: [], maxWaitMs: 0, defaultWaitMs: null },
  start: {
    tries: 4,
    retriesWithoutResponse: 3,
    statuses: [503],
    maxWaitMs: 10_000,
    defaultWaitMs: null,
  },
  transfer: {
    tries: 6,
    retriesWithoutResponse: 3,
    statuses: [429, 503],
    maxWaitMs: 60_000,
    defaultWaitMs: 1_000,
  },
};
const FIRST_WAIT_MS = 500;

type ResponseHead = Pick<Response, "status" | "headers"> & { body?: Response["body"] };

/**
 * Calls `sendOnce` until its response is final. The wait doubles with each try, and is never
 * shorter than the response's `Retry-After`.
 */
export async function withRetries<A extends ResponseHead>(
  sendOnce: () => Promise<A>,
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
): Promise<A> {
  const limits = LIMITS[policy];
  for (let tries = 1; ; tries += 1) {
    const response = await sendOnce().catch((error: unknown) => {
      if (tries > limits.retriesWithoutResponse || !mayRepeat(error, policy, tries)) throw error;
      return null;
    });
    const waitMs = response ? retryAfterMs(response, limits) : 0;
    if (response && (waitMs === null || tries >= limits.tries)) return response;
    await response?.body?.cancel(); // frees the connection of the unread response
    await sleep(Math.max(waitMs ?? 0, FIRST_WAIT_MS * 2 ** (tries - 1)), signal);
  }
}

/** The wait that a response requires, in milliseconds; `null` if the response is final. */
function retryAfterMs({ status, headers }: ResponseHead, limits: Limits): number | null {
  if (!limits.statuses.includes(status)) return null;
  const text = headers.get("retry-after");
  const ms = text === null ? limits.defaultWaitMs : Number(text) * 1000;
  return ms !== null && ms <= limits.maxWaitMs ? ms : null;
}

/**
 * Whether to retry a call without a response. A start with a broken connection is retried: the turn
 * may have started, and the idempotency key prevents a second one. A refused connection means that
 * no service is listening. It is retried only after an earlier try, which may have been accepted.
 */
function mayRepeat(error: unknown, policy: RetryPolicy, tries: number): boolean {
  if (!(error instanceof ClientError)) return false;
  const { kind, cause } = error;
  const isBroken = kind === "unreachable" || kind === "interrupted";
  if (policy === "transfer") return isBroken || kind === "timed_out";
  const code = systemCode(cause);
  return (
    isBroken &&
    (code === null || BROKEN_CONNECTION.has(code) || (tries > 1 && code === "ECONNREFUSED"))
  );
}

const BROKEN_CONNECTION: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/**
 * The operating system's error code. Node's `fetch` wraps the error with the code in an error of
 * its own. Returns `null` in browsers and workerd, which report no code.
 */
function systemCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return code || (error.cause === undefined ? null : (systemCode(error.cause) ?? ""));
}
