import type { RateLimits } from "../providers/rate-limits";
import {
  spendingAt,
  correctUsage,
  lastExpiry,
  earliestStart,
  NO_SPENDING,
  type Spending,
  recordStart,
} from "./backend-rates";

/**
 * The state that decides when calls to one endpoint may start. Among calls with the same limits,
 * the call that asked first starts first. All functions are pure; times are Unix ms.
 */
export type RateQueue = {
  readonly spent: Spending;
  readonly waiting: readonly WaitingCall[];
  readonly granted: readonly Grant[];
};
/** `seen`: the last time at which the call asked to start. */
type WaitingCall = Asker & { readonly seen: number };
/**
 * A call that may start. `at`: start time. `tokens`: expected tokens. The grant is stored until the
 * call settles, so that the call can ask again, and its tokens can be corrected.
 */
type Grant = { readonly id: string; readonly at: number; readonly tokens: number };

/**
 * A call that asks to start. `id`: id of the call, the same each time it asks. `tokens`: expected
 * input and output tokens.
 */
export type Asker = { readonly id: string; readonly limits: RateLimits; readonly tokens: number };

export const EMPTY_QUEUE: RateQueue = { spent: NO_SPENDING, waiting: [], granted: [] };

/** A waiting call is removed if it has not asked again for this time. */
const MAX_SILENCE_MS = 30_000;
/** How long a grant is stored. This is longer than any call, so older grants never settle. */
const GRANT_KEPT_MS = 15 * 60_000;

/**
 * `startsAt`: expected start, if no other call starts and no waiting call leaves the queue before.
 */
type RateVerdict = { queue: RateQueue } & (
  | { granted: true }
  | { granted: false; startsAt: number }
);

/**
 * Asks to start a call now. A call that may not start is added to the queue. It keeps its position
 * if it asks again within `MAX_SILENCE_MS`.
 */
export function askToStart(before: RateQueue, asker: Asker, now: number): RateVerdict {
  const queue = withoutExpired(before, now);
  if (queue.granted.some(({ id }) => id === asker.id)) return { queue, granted: true };
  const position = queue.waiting.findIndex(({ id }) => id === asker.id);
  const isWaiting = position >= 0;
  const earlier = isWaiting ? queue.waiting.slice(0, position) : queue.waiting;
  const ahead = earlier.filter((other) => sameLimits(other.limits, asker.limits));
  const startsAt = earliestStart(queue.spent, asker.limits, asker.tokens, now);
  if (ahead.length === 0 && startsAt <= now)
    return { queue: grantStart(queue, asker, now), granted: true };
  const entry = { ...asker, seen: now };
  const waiting = isWaiting ? queue.waiting.with(position, entry) : [...queue.waiting, entry];
  return {
    queue: { ...queue, waiting },
    granted: false,
    startsAt: Math.max(startsAt, ...ahead.map(startTimeIn(queue, now))),
  };
}

/** The time at which the queue equals `EMPTY_QUEUE`, if no call asks before. */
export const forgottenAt = ({ spent, granted }: Omit<RateQueue, "waiting">): number =>
  Math.max(lastExpiry(spent), ...granted.map(({ at }) => at + GRANT_KEPT_MS));

const startTimeIn =
  ({ spent }: RateQueue, now: number) =>
  ({ limits, tokens }: WaitingCall): number =>
    earliestStart(spent, limits, tokens, now);

/**
 * Removes a call that will not be sent. Frees its position in the queue, and the requests and
 * tokens that were recorded for it.
 */
export const leaveQueue = (queue: RateQueue, id: string): RateQueue =>
  endCall({ ...queue, waiting: withoutCall(queue.waiting, id) }, id, { requests: 0, tokens: 0 });

/**
 * Records that a call has ended with these tokens. Has no effect if repeated, or for a call that
 * never started.
 */
export const settleCall = (queue: RateQueue, id: string, tokens: number): RateQueue =>
  endCall(queue, id, { requests: 1, tokens });

function endCall(
  queue: RateQueue,
  id: string,
  actual: { requests: 0 | 1; tokens: number },
): RateQueue {
  const grant = queue.granted.find((granted) => granted.id === id);
  if (!grant) return queue;
  const granted = queue.granted.filter((other) => other !== grant);
  const correction = {
    at: grant.at,
    tokensDelta: actual.tokens - grant.tokens,
    requestsDelta: actual.requests - 1,
  };
  return { ...queue, granted, spent: correctUsage(queue.spent, correction) };
}

const grantStart = (queue: RateQueue, { id, tokens }: Asker, now: number): RateQueue => ({
  spent: recordStart(queue.spent, tokens, now),
  waiting: withoutCall(queue.waiting, id),
  granted: [...queue.granted, { id, at: now, tokens }],
});

/**
 * Removes expired entries. If the clock was set back, all times in the future become `now`: in the
 * spending and in the grants, so that a correction still finds the bucket of its call.
 */
const withoutExpired = (queue: RateQueue, now: number): RateQueue => ({
  spent: spendingAt(queue.spent, now),
  waiting: queue.waiting
    .filter(({ seen }) => seen + MAX_SILENCE_MS > now)
    .map((call) => ({ ...call, seen: Math.min(call.seen, now) })),
  granted: queue.granted
    .filter(({ at }) => at + GRANT_KEPT_MS > now)
    .map((grant) => ({ ...grant, at: Math.min(grant.at, now) })),
});

const withoutCall = (waiting: readonly WaitingCall[], id: string): WaitingCall[] =>
  waiting.filter((call) => call.id !== id);

const sameLimits = (a: RateLimits, b: RateLimits): boolean =>
  (["requestsPerMinute", "tokensPerMinute", "requestsPerDay", "tokensPerDay"] as const).every(
    (name) => a[name] === b[name],
  );
