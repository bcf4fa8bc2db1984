/** Reads the delay before a retry, in ms, from every form in which providers state it. Pure. */

/**
 * All three forms of an HTTP date begin with a weekday. This test is necessary because `Date.parse`
 * accepts "-1" as a date.
 */
const HTTP_DATE = /^[a-z]{3,9},?\s/i;
const RFC_3339 = /^\d{4}-\d\d-\d\dt/i;

/**
 * The delay in ms that the headers of a reply ask for; `undefined` if missing or invalid. Large
 * values are returned unchanged: `coordination/` decides whether a delay is too long. An HTTP date
 * is compared with the header `date` of the same reply, so that a wrong clock on either side has no
 * effect.
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const ms = toDelay(headers.get("retry-after-ms"), 1);
  if (ms !== undefined) return ms;
  const value = headers.get("retry-after");
  const seconds = toDelay(value, 1000);
  if (seconds !== undefined || value === null) return seconds;
  return HTTP_DATE.test(value) ? untilDate(value, headers, now) : undefined;
}

const LIMIT_HEADER =
  /^[a-z-]{0,20}ratelimit-(?:(?<field>remaining|reset)-(?<limit>.+)|(?<name>.+)-(?<part>remaining|reset))$/;

/**
 * Time in ms until all exhausted rate limits have reset. Limits that are not exhausted are ignored,
 * because they did not cause this refusal. `undefined` if no limit is exhausted.
 */
export function limitResetMs(headers: Headers, now: number): number | undefined {
  const resets = new Map<string, number>();
  const exhaustedKeys = new Set<string>();
  for (const [header, value] of headers) {
    const { field, limit, name, part } = LIMIT_HEADER.exec(header)?.groups ?? {};
    const key = limit ?? name;
    if (key === undefined) continue;
    if ((field ?? part) === "remaining" && Number(value) === 0) exhaustedKeys.add(key);
    const reset = (field ?? part) === "reset" ? resetMs(value, headers, now) : undefined;
    if (reset !== undefined) resets.set(key, reset);
  }
  const waits = [...exhaustedKeys].flatMap((key) => resets.get(key) ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function resetMs(value: string, headers: Headers, now: number): number | undefined {
  if (RFC_3339.test(value)) return untilDate(value, headers, now);
  return toDelay(value, 1000) ?? durationMs(value);
}

const MS_OF_UNIT: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const UNIT = "ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?";
const DURATION_PARTS = new RegExp(String.raw`(\d+(?:\.\d+)?)\s*(${UNIT})(?![a-z])`, "gi");
const DURATION = new RegExp(String.raw`^\s*(?:\d+(?:\.\d+)?\s*(?:${UNIT})\s*)+$`, "i");
const REQUESTED_DELAY = new RegExp(
  String.raw`\b(?:try again|retry|retrying|reset|available|wait) (?:(?:in|after|for|about) )*((?:\d+(?:\.\d+)?\s*(?:${UNIT})(?![a-z])[\s,]*)+)`,
  "i",
);

/**
 * A duration such as "6m0s", "1.2s", "250ms" or "20 seconds", in ms; `undefined` for anything else.
 */
export function durationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  return sumOf(text);
}

/**
 * The delay in ms that the text of an error asks for ("Please try again in 6m0s"); `undefined` if
 * there is none.
 */
export function delayInWords(words: string): number | undefined {
  const requestedDelay = REQUESTED_DELAY.exec(words)?.[1];
  return requestedDelay === undefined ? undefined : sumOf(requestedDelay);
}

function sumOf(text: string): number {
  const total = [...text.matchAll(DURATION_PARTS)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * unitMs(unit ?? ""),
    0,
  );
  return Math.min(Math.ceil(total), Number.MAX_SAFE_INTEGER);
}

function unitMs(unit: string): number {
  const lower = unit.toLowerCase();
  return MS_OF_UNIT[lower === "ms" || lower.startsWith("milli") ? "ms" : lower.charAt(0)] ?? 0;
}

function untilDate(value: string, headers: Headers, now: number): number | undefined {
  const until = Date.parse(value);
  if (Number.isNaN(until)) return undefined;
  const sentAt = Date.parse(headers.get("date") ?? "");
  return Math.max(0, until - (Number.isNaN(sentAt) ? now : sentAt));
}

function toDelay(value: string | null, unit: number): number | undefined {
  if (value === null || !/^\s*\d+(\.\d+)?\s*$/.test(value)) return undefined;
  return Math.min(Math.ceil(Number(value) * unit), Number.MAX_SAFE_INTEGER);
}
