import type { RateLimits } from "../providers/rate-limits";

/**
 * How much of an endpoint's quota is spent, and when there is room for another call. Windows slide and are counted in buckets, so
 * that what is kept stays small however many calls there are: a bucket counts until all of it is out of the window, which is at
 * most a second late for a minute and five minutes for a day. Pure; times are Unix ms.
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
export function earliestStart(spent: Spent, limits: RateLimits, tokens: number, now: number): number {
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
  minute: added(alive(spent, "minute", now), "minute", { tokens, now }),
  day: added(alive(spent, "day", now), "day", { tokens, now }),
});

/** What a call that started at `at` took beyond what it was thought to, or less. What is out of its window stays so. */
export const correct = (spent: Spent, correction: Correction): Spent => ({
  minute: corrected(spent.minute, "minute", correction),
  day: corrected(spent.day, "day", correction),
});

/** When nothing of it counts any more; 0: nothing does. */
export const countsUntil = ({ minute, day }: Spent): number =>
  Math.max(0, ...minute.map((bucket) => endOf(bucket, "minute")), ...day.map((bucket) => endOf(bucket, "day")));

const endOf = ({ start }: Bucket, window: WindowName): number => start + WINDOWS[window].bucketMs + WINDOWS[window].spanMs;

const alive = (spent: Spent, window: WindowName, now: number): readonly Bucket[] =>
  spent[window].filter((bucket) => endOf(bucket, window) > now);

function added(buckets: readonly Bucket[], window: WindowName, { tokens, now }: { tokens: number; now: number }): Bucket[] {
  const last = buckets.at(-1);
  // A clock that went back adds to the newest.
  if (last && now < last.start + WINDOWS[window].bucketMs)
    return [...buckets.slice(0, -1), { ...last, requests: last.requests + 1, tokens: last.tokens + tokens }];
  const start = Math.floor(now / WINDOWS[window].bucketMs) * WINDOWS[window].bucketMs;
  return [...buckets, { start, requests: 1, tokens }];
}

/** `requestsMore` absent: it was a request. */
type Correction = { at: number; tokensMore: number; requestsMore?: number };

function corrected(buckets: readonly Bucket[], window: WindowName, correction: Correction): Bucket[] {
  const { at, tokensMore, requestsMore = 0 } = correction;
  const { bucketMs } = WINDOWS[window];
  return buckets.map(({ start, requests, tokens }) =>
    at >= start && at < start + bucketMs
      ? { start, requests: Math.max(0, requests + requestsMore), tokens: Math.max(0, tokens + tokensMore) }
      : { start, requests, tokens },
  );
}
