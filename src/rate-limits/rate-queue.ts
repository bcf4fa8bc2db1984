import type { RateLimits } from "../providers/rate-limits";
import {
  spendingAt,
  correct,
  countsUntil,
  earliestStart,
  NO_SPENDING,
  type Spending,
  spend,
} from "./backend-rates";

/**
 * Admission of calls to one endpoint. Calls wait for room in the order of their requests, among
 * those with the same limits. Pure; times are Unix ms.
 */
export type RateQueue = {
  readonly spent: Spending;
  readonly waiting: readonly WaitingCall[];
  readonly granted: readonly Grant[];
};
/** `seen`: time of its last request. */
type WaitingCall = Asker & { readonly seen: number };
/** Stored until it settles, so that requesting is idempotent, and its tokens can be corrected. */
type Grant = { readonly id: string; readonly at: number; readonly tokens: number };

/**
 * `id` is the call's own, the same for each request. `tokens` is the expected usage, input and
 * output.
 */
export type Asker = { readonly id: string; readonly limits: RateLimits; readonly tokens: number };

export const EMPTY_QUEUE: RateQueue = { spent: NO_SPENDING, waiting: [], granted: [] };

/** A waiting call that has not asked for this long is dropped. */
const FORGOTTEN_MS = 30_000;
/** Longer than any call: older entries never settle. */
const KEPT_MS = 15 * 60_000;

/** `startsAt`: when there may be room, if no other call starts and none is returned. */
type RateVerdict = { queue: RateQueue } & (
  | { granted: true }
  | { granted: false; startsAt: number }
);

/**
 * Requests to start now. A call that may not start is queued, and keeps its position while it asks
 * again in time.
 */
export function askToStart(before: RateQueue, asker: Asker, now: number): RateVerdict {
  const queue = tidied(before, now);
  if (queue.granted.some(({ id }) => id === asker.id)) return { queue, granted: true };
  const place = queue.waiting.findIndex(({ id }) => id === asker.id);
  const earlier = place < 0 ? queue.waiting : queue.waiting.slice(0, place);
  const ahead = earlier.filter((other) => sameLimits(other.limits, asker.limits));
  const startsAt = earliestStart(queue.spent, asker.limits, asker.tokens, now);
  if (ahead.length === 0 && startsAt <= now)
    return { queue: started(queue, asker, now), granted: true };
  const renewed = { ...asker, seen: now };
  const waiting = place < 0 ? [...queue.waiting, renewed] : queue.waiting.with(place, renewed);
  return {
    queue: { ...queue, waiting },
    granted: false,
    startsAt: Math.max(startsAt, ...ahead.map(startOf(queue, now))),
  };
}

/** When the queue equals an empty one, if no call asks before. */
export const forgottenAt = ({ spent, granted }: Omit<RateQueue, "waiting">): number =>
  Math.max(countsUntil(spent), ...granted.map(({ at }) => at + KEPT_MS));

const startOf =
  ({ spent }: RateQueue, now: number) =>
  ({ limits, tokens }: WaitingCall): number =>
    earliestStart(spent, limits, tokens, now);

/** The call will not be made, or was never sent: its position and usage are returned. */
export const leaveQueue = (queue: RateQueue, id: string): RateQueue =>
  ended({ ...queue, waiting: without(queue.waiting, id) }, id, { requests: 0, tokens: 0 });

/**
 * The call has ended with these tokens. No effect if repeated, or for a call that never started.
 */
export const settleCall = (queue: RateQueue, id: string, tokens: number): RateQueue =>
  ended(queue, id, { requests: 1, tokens });

function ended(queue: RateQueue, id: string, took: { requests: 0 | 1; tokens: number }): RateQueue {
  const call = queue.granted.find((one) => one.id === id);
  if (!call) return queue;
  const granted = queue.granted.filter((one) => one !== call);
  const correction = {
    at: call.at,
    tokensDelta: took.tokens - call.tokens,
    requestsDelta: took.requests - 1,
  };
  return { ...queue, granted, spent: correct(queue.spent, correction) };
}

const started = (queue: RateQueue, { id, tokens }: Asker, now: number): RateQueue => ({
  spent: spend(queue.spent, tokens, now),
  waiting: without(queue.waiting, id),
  granted: [...queue.granted, { id, at: now, tokens }],
});

/**
 * After the clock was set back, future times become `now`, for the whole queue alike, so that
 * corrections find their entries.
 */
const tidied = (queue: RateQueue, now: number): RateQueue => ({
  spent: spendingAt(queue.spent, now),
  waiting: queue.waiting
    .filter(({ seen }) => seen + FORGOTTEN_MS > now)
    .map((one) => ({ ...one, seen: Math.min(one.seen, now) })),
  granted: queue.granted
    .filter(({ at }) => at + KEPT_MS > now)
    .map((one) => ({ ...one, at: Math.min(one.at, now) })),
});

const without = (waiting: readonly WaitingCall[], id: string): WaitingCall[] =>
  waiting.filter((one) => one.id !== id);

const sameLimits = (a: RateLimits, b: RateLimits): boolean =>
  (["requestsPerMinute", "tokensPerMinute", "requestsPerDay", "tokensPerDay"] as const).every(
    (name) => a[name] === b[name],
  );
