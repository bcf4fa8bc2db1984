import type { RateLimits } from "../providers/rate-limits";

/**
 * The part of an endpoint's rate limits that calls have used, and when the next call may start.
 * Windows slide. Calls are counted in buckets of 1 s (minute) and 5 min (day), so that the size
 * does not grow with the number of calls. A bucket counts until all of it has left the window, so a
 * call may wait longer than necessary by the length of one bucket. Pure; times are Unix ms.
 *
 * If the clock is set back, entries in the future count as made at the first read. So no call
 * starts too early, and none waits longer than a window. If the clock is set forward, the windows
 * look empty: each time, calls may exceed a limit by at most its full amount.
 */
export type Spending = { readonly minute: readonly Bucket[]; readonly day: readonly Bucket[] };
/** Oldest first; `start` ascends. */
type Bucket = { readonly start: number; readonly requests: number; readonly tokens: number };

export const NO_SPENDING: Spending = { minute: [], day: [] };

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
 * The earliest time from `now` on at which a call with these tokens is within all limits, if no
 * other call starts before. A call larger than a limit waits until no other call counts; the
 * provider then accepts or rejects it.
 */
export function earliestStart(
  spent: Spending,
  limits: RateLimits,
  tokens: number,
  now: number,
): number {
  const times = RULES.map(({ limit: name, window, counts }) => {
    const limit = limits[name];
    if (limit === undefined) return now;
    const needed = Math.min(counts === "requests" ? 1 : tokens, limit);
    return roomAt(alive(spent, window, now), { room: limit - needed, window, counts, now });
  });
  return Math.max(now, ...times);
}

type Room = { room: number; window: WindowName; counts: "requests" | "tokens"; now: number };

/** The time at which enough of the oldest buckets have expired that at most `room` is used. */
function roomAt(buckets: readonly Bucket[], { room, window, counts, now }: Room): number {
  let used = buckets.reduce((sum, bucket) => sum + bucket[counts], 0);
  let at = now;
  for (const bucket of buckets) {
    if (used <= room) return at;
    used -= bucket[counts];
    at = endOf(bucket, window);
  }
  return at;
}

/** Records the start of a call with its estimated tokens. */
export const spend = (spent: Spending, tokens: number, now: number): Spending => ({
  minute: added(alive(spent, "minute", now), {
    start: startOf("minute", now),
    requests: 1,
    tokens,
  }),
  day: added(alive(spent, "day", now), { start: startOf("day", now), requests: 1, tokens }),
});

/**
 * The spending at `now`. Entries in the future of the clock are moved to `now`. Store the result:
 * otherwise they would be moved again at the next read and count longer.
 */
export const spendingAt = (spent: Spending, now: number): Spending => ({
  minute: alive(spent, "minute", now),
  day: alive(spent, "day", now),
});

/**
 * Corrects the spending of a call that started at `at` from its estimate to its actual usage. Does
 * not change expired entries.
 */
export const correct = (spent: Spending, correction: Correction): Spending => ({
  minute: corrected(spent.minute, "minute", correction),
  day: corrected(spent.day, "day", correction),
});

/** The time at which all spending has expired; 0 if there is none. */
export const countsUntil = ({ minute, day }: Spending): number =>
  Math.max(
    0,
    ...minute.map((bucket) => endOf(bucket, "minute")),
    ...day.map((bucket) => endOf(bucket, "day")),
  );

/** Whether an entry is in the future of a clock at `now`. */
export const isAhead = ({ minute, day }: Spending, now: number): boolean =>
  [...minute, ...day].some(({ start }) => start > now);

const endOf = ({ start }: Bucket, window: WindowName): number =>
  start + WINDOWS[window].bucketMs + WINDOWS[window].spanMs;

const startOf = (window: WindowName, at: number): number =>
  Math.floor(at / WINDOWS[window].bucketMs) * WINDOWS[window].bucketMs;

function alive(spent: Spending, window: WindowName, now: number): readonly Bucket[] {
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

/** Actual usage minus estimated usage. `requestsDelta` omitted: 0. */
type Correction = { at: number; tokensDelta: number; requestsDelta?: number };

function corrected(
  buckets: readonly Bucket[],
  window: WindowName,
  correction: Correction,
): Bucket[] {
  const { at, tokensDelta, requestsDelta = 0 } = correction;
  const { bucketMs } = WINDOWS[window];
  return buckets.map(({ start, requests, tokens }) =>
    at >= start && at < start + bucketMs
      ? {
          start,
          requests: Math.max(0, requests + requestsDelta),
          tokens: Math.max(0, tokens + tokensDelta),
        }
      : { start, requests, tokens },
  );
}
