import type { RateLimits } from "../providers/rate-limits";
import {
  asOf,
  correct,
  countsUntil,
  earliestStart,
  NOTHING_SPENT,
  type Spent,
  spend,
} from "./backend-rates";

/**
 * Who may start a call to one endpoint, and who waits for room: in the order in which they asked, among those who keep to the same
 * limits. Pure; times are Unix ms.
 */
export type RateQueue = {
  readonly spent: Spent;
  readonly waiting: readonly Waiting[];
  readonly granted: readonly Granted[];
};
/** `seen`: when it last asked. */
type Waiting = Asker & { readonly seen: number };
/** Kept until it settles, so that asking again is the same as asking once, and its tokens can be put right. */
type Granted = { readonly id: string; readonly at: number; readonly tokens: number };

/** `id`: the call's own, the same each time it asks. `tokens`: what it is thought to take, input and output. */
export type Asker = { readonly id: string; readonly limits: RateLimits; readonly tokens: number };

export const EMPTY_QUEUE: RateQueue = { spent: NOTHING_SPENT, waiting: [], granted: [] };

/** Who has not asked for so long has gone, and holds nobody up. */
export const FORGOTTEN_MS = 30_000;
/** Longer than any call: nobody settles what is older. */
const KEPT_MS = 15 * 60_000;

/** `startsAt`: when there may be room, if nobody else starts and nobody gives anything back. */
export type RateVerdict = { queue: RateQueue } & (
  | { granted: true }
  | { granted: false; startsAt: number }
);

/** Asks to start now. Whoever may not is in the queue from then on, and keeps its place as long as it asks again in time. */
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

/** From when on it says no more than an empty one, if nobody asks until then. */
export const forgottenAt = ({ spent, granted }: Omit<RateQueue, "waiting">): number =>
  Math.max(countsUntil(spent), ...granted.map(({ at }) => at + KEPT_MS));

const startOf =
  ({ spent }: RateQueue, now: number) =>
  ({ limits, tokens }: Waiting): number =>
    earliestStart(spent, limits, tokens, now);

/** The call is not to be made any more, or was never sent: its place is free, and all that it took is given back. */
export const leaveQueue = (queue: RateQueue, id: string): RateQueue =>
  ended({ ...queue, waiting: without(queue.waiting, id) }, id, { requests: 0, tokens: 0 });

/** The call has ended, with so many tokens. Again, or for one that never started, nothing happens. */
export const settleCall = (queue: RateQueue, id: string, tokens: number): RateQueue =>
  ended(queue, id, { requests: 1, tokens });

function ended(queue: RateQueue, id: string, took: { requests: 0 | 1; tokens: number }): RateQueue {
  const call = queue.granted.find((one) => one.id === id);
  if (!call) return queue;
  const granted = queue.granted.filter((one) => one !== call);
  const correction = {
    at: call.at,
    tokensMore: took.tokens - call.tokens,
    requestsMore: took.requests - 1,
  };
  return { ...queue, granted, spent: correct(queue.spent, correction) };
}

const started = (queue: RateQueue, { id, tokens }: Asker, now: number): RateQueue => ({
  spent: spend(queue.spent, tokens, now),
  waiting: without(queue.waiting, id),
  granted: [...queue.granted, { id, at: now, tokens }],
});

/** What is ahead of a clock that went back is of now, for all of a queue alike: a call is put right where it counts. */
const tidied = (queue: RateQueue, now: number): RateQueue => ({
  spent: asOf(queue.spent, now),
  waiting: queue.waiting
    .filter(({ seen }) => seen + FORGOTTEN_MS > now)
    .map((one) => ({ ...one, seen: Math.min(one.seen, now) })),
  granted: queue.granted
    .filter(({ at }) => at + KEPT_MS > now)
    .map((one) => ({ ...one, at: Math.min(one.at, now) })),
});

const without = (waiting: readonly Waiting[], id: string): Waiting[] =>
  waiting.filter((one) => one.id !== id);

const sameLimits = (a: RateLimits, b: RateLimits): boolean =>
  (["requestsPerMinute", "tokensPerMinute", "requestsPerDay", "tokensPerDay"] as const).every(
    (name) => a[name] === b[name],
  );
