import type { RateLimits } from "../providers/rate-limits";

/**
 * How much of an endpoint's quota is spent, and when there is room for another call. Windows slide and are counted in buckets, so
 * that what is kept stays small however many calls there are: a bucket counts until all of it is out of the window, which is at
 * most a second late for a minute and five minutes for a day. Pure; times are Unix ms.
 *
 * A clock may go back. How long ago a call was made that is ahead of it nobody knows, so it counts as made when the clock is looked
 * at first: that lets nothing through too soon, and holds nobody up for longer than a window. After a clock that goes on too far the
 * windows look empty: each such jump lets a limit through once more at most.
 */
export type Spent = { readonly minute: readonly Bucket[]; readonly day: readonly Bucket[] };
/** Oldest first; `start` rises. */
type Bucket = { readonly start: number; readonly requests: number; readonly tokens: number };

export const NOTHING_SPENT: Spent = { minute: [], day: [] };

const WINDOWS = {
  minute: { spanMs: 60_000, bucketMs: 1_000 },
  day: { spanMs: 86_400_000, bucketMs: 300_000 },
} as const;
type WindowName = keyof typeof WINDOWS;

const RULES = [
  { limit: "requestsPerMinute", window: "minute", counts: "requests" },
  { limit: "tokensPerMinute", window: "minute", counts: "tokens" },
  { limit: "requestsPerDay", window: "day", counts: "requests" },
  { limit: "tokensPerDay", window: "day", counts: "tokens" },
] as const;

/**
 * The earliest time from `now` on at which a call of so many tokens keeps to all limits, if nothing else is spent before. A call
 * larger than a whole limit waits until nothing else counts: the provider then says what it thinks of it.
 */
export function earliestStart(
  spent: Spent,
  limits: RateLimits,
  tokens: number,
  now: number,
): number {
  const times = RULES.map(({ limit: name, window, counts }) => {
    const limit = limits[name];
    if (limit === undefined) return now;
    const wanted = Math.min(counts === "requests" ? 1 : tokens, limit);
    return roomAt(alive(spent, window, now), { room: limit - wanted, window, counts, now });
  });
  return Math.max(now, ...times);
}

type Room = { room: number; window: WindowName; counts: "requests" | "tokens"; now: number };

/** When enough of the oldest buckets have gone. */
function roomAt(buckets: readonly Bucket[], { room, window, counts, now }: Room): number {
  let left = buckets.reduce((sum, bucket) => sum + bucket[counts], 0);
  let at = now;
  for (const bucket of buckets) {
    if (left <= room) return at;
    left -= bucket[counts];
    at = endOf(bucket, window);
  }
  return at;
}

/** A call starts: it counts, with the tokens it is thought to take. */
export const spend = (spent: Spent, tokens: number, now: number): Spent => ({
  minute: added(alive(spent, "minute", now), {
    start: startOf("minute", now),
    requests: 1,
    tokens,
  }),
  day: added(alive(spent, "day", now), { start: startOf("day", now), requests: 1, tokens }),
});

/** What counts at `now`. What is ahead of it counts from now on, so whoever keeps this does not begin to wait for it anew. */
export const asOf = (spent: Spent, now: number): Spent => ({
  minute: alive(spent, "minute", now),
  day: alive(spent, "day", now),
});

/** What a call that started at `at` took beyond what it was thought to, or less. What is out of its window stays so. */
export const correct = (spent: Spent, correction: Correction): Spent => ({
  minute: corrected(spent.minute, "minute", correction),
  day: corrected(spent.day, "day", correction),
});

/** When nothing of it counts any more; 0: nothing does. */
export const countsUntil = ({ minute, day }: Spent): number =>
  Math.max(
    0,
    ...minute.map((bucket) => endOf(bucket, "minute")),
    ...day.map((bucket) => endOf(bucket, "day")),
  );

/** Whether some of it is ahead of a clock that says `now`. */
export const isAhead = ({ minute, day }: Spent, now: number): boolean =>
  [...minute, ...day].some(({ start }) => start > now);

const endOf = ({ start }: Bucket, window: WindowName): number =>
  start + WINDOWS[window].bucketMs + WINDOWS[window].spanMs;

const startOf = (window: WindowName, at: number): number =>
  Math.floor(at / WINDOWS[window].bucketMs) * WINDOWS[window].bucketMs;

function alive(spent: Spent, window: WindowName, now: number): readonly Bucket[] {
  const newest = startOf(window, now);
  const known = spent[window].filter(
    (bucket) => bucket.start <= newest && endOf(bucket, window) > now,
  );
  const ahead = spent[window].filter(({ start }) => start > newest);
  return ahead.reduce<readonly Bucket[]>(
    (buckets, bucket) => added(buckets, { ...bucket, start: newest }),
    known,
  );
}

function added(buckets: readonly Bucket[], { start, requests, tokens }: Bucket): readonly Bucket[] {
  const last = buckets.at(-1);
  if (last?.start !== start) return [...buckets, { start, requests, tokens }];
  return [
    ...buckets.slice(0, -1),
    { start, requests: last.requests + requests, tokens: last.tokens + tokens },
  ];
}

/** `requestsMore` absent: it was a request. */
type Correction = { at: number; tokensMore: number; requestsMore?: number };

function corrected(
  buckets: readonly Bucket[],
  window: WindowName,
  correction: Correction,
): Bucket[] {
  const { at, tokensMore, requestsMore = 0 } = correction;
  const { bucketMs } = WINDOWS[window];
  return buckets.map(({ start, requests, tokens }) =>
    at >= start && at < start + bucketMs
      ? {
          start,
          requests: Math.max(0, requests + requestsMore),
          tokens: Math.max(0, tokens + tokensMore),
        }
      : { start, requests, tokens },
  );
}
