import type { RateLimits } from "../providers/rate-limits";

/**
 * The requests and tokens that calls to an endpoint have used in the last minute and day. The
 * windows slide. Calls are counted in buckets of 1 s (minute) and 5 min (day), so that the stored
 * size does not grow with the number of calls. A bucket counts until its end has left the window,
 * so a call may wait longer than necessary by the length of one bucket. All functions are pure;
 * times are Unix ms.
 *
 * If the clock is set back, buckets in the future are moved to the time of the first read. So no
 * call starts too early, and no call waits longer than a window. If the clock is set forward, the
 * windows look empty. Then the calls can exceed a limit, each time by at most the limit itself.
 */
export type Spending = { readonly minute: readonly Bucket[]; readonly day: readonly Bucket[] };
/** The use of all calls that started in this bucket. Lists are sorted by `start`, oldest first. */
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
 * The earliest time, not before `now`, at which a call with these tokens is within all limits if no
 * other call starts before. If a call is larger than a limit, it waits until no other call counts.
 * The provider then accepts or rejects the call.
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
    const buckets = activeBuckets(spent, window, now);
    return timeWithRoom(buckets, { maxUsed: limit - needed, window, counts, now });
  });
  return Math.max(now, ...times);
}

type RoomQuery = {
  /** Maximum use by other calls. */
  maxUsed: number;
  window: WindowName;
  counts: "requests" | "tokens";
  now: number;
};

/** The time at which enough of the oldest buckets have expired: at most `maxUsed` is used then. */
function timeWithRoom(
  buckets: readonly Bucket[],
  { maxUsed, window, counts, now }: RoomQuery,
): number {
  let used = buckets.reduce((sum, bucket) => sum + bucket[counts], 0);
  let at = now;
  for (const bucket of buckets) {
    if (used <= maxUsed) return at;
    used -= bucket[counts];
    at = expiryOf(bucket, window);
  }
  return at;
}

/** Records the start of a call with its estimated tokens. */
export const recordStart = (spent: Spending, tokens: number, now: number): Spending => ({
  minute: addToBuckets(activeBuckets(spent, "minute", now), {
    start: bucketStart("minute", now),
    requests: 1,
    tokens,
  }),
  day: addToBuckets(activeBuckets(spent, "day", now), {
    start: bucketStart("day", now),
    requests: 1,
    tokens,
  }),
});

/**
 * The spending at `now`, without expired buckets. Buckets in the future are moved to `now`. Store
 * the result: otherwise these buckets would be moved again at the next read, and count too long.
 */
export const spendingAt = (spent: Spending, now: number): Spending => ({
  minute: activeBuckets(spent, "minute", now),
  day: activeBuckets(spent, "day", now),
});

/**
 * Corrects the spending of one call, from its estimated to its actual usage. Does nothing if the
 * call has expired.
 */
export const correctUsage = (spent: Spending, correction: Correction): Spending => ({
  minute: correctBuckets(spent.minute, "minute", correction),
  day: correctBuckets(spent.day, "day", correction),
});

/** The time at which all spending has expired; 0 if there is none. */
export const lastExpiry = ({ minute, day }: Spending): number =>
  Math.max(
    0,
    ...minute.map((bucket) => expiryOf(bucket, "minute")),
    ...day.map((bucket) => expiryOf(bucket, "day")),
  );

/** Whether a bucket is in the future, because the clock was set back. */
export const isAhead = ({ minute, day }: Spending, now: number): boolean =>
  [...minute, ...day].some(({ start }) => start > now);

const expiryOf = ({ start }: Bucket, window: WindowName): number =>
  start + WINDOWS[window].bucketMs + WINDOWS[window].spanMs;

const bucketStart = (window: WindowName, at: number): number =>
  Math.floor(at / WINDOWS[window].bucketMs) * WINDOWS[window].bucketMs;

/** The buckets that count at `now`. Buckets in the future are added to the newest bucket. */
function activeBuckets(spent: Spending, window: WindowName, now: number): readonly Bucket[] {
  const newest = bucketStart(window, now);
  const known = spent[window].filter(
    (bucket) => bucket.start <= newest && expiryOf(bucket, window) > now,
  );
  const ahead = spent[window].filter(({ start }) => start > newest);
  return ahead.reduce<readonly Bucket[]>(
    (buckets, bucket) => addToBuckets(buckets, { ...bucket, start: newest }),
    known,
  );
}

function addToBuckets(
  buckets: readonly Bucket[],
  { start, requests, tokens }: Bucket,
): readonly Bucket[] {
  const last = buckets.at(-1);
  if (last?.start !== start) return [...buckets, { start, requests, tokens }];
  return [
    ...buckets.slice(0, -1),
    { start, requests: last.requests + requests, tokens: last.tokens + tokens },
  ];
}

/**
 * Actual usage minus estimated usage, for a call that started at `at`. `requestsDelta` is 0 if
 * omitted.
 */
type Correction = { at: number; tokensDelta: number; requestsDelta?: number };

function correctBuckets(
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
