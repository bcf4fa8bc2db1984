/** All three forms of an HTTP date begin with a weekday; `Date.parse` alone takes "-1" for a date too. */
const HTTP_DATE = /^[a-z]{3,9},?\s/i;

/**
 * How long a reply's headers ask to wait, in ms; undefined if they do not say or make no sense. Large values come back as they
 * are: what is too long to wait for is a rule of the coordination. An HTTP date is measured against the reply's own `date`,
 * so that a wrong clock on either side changes nothing.
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const ms = toDelay(headers.get("retry-after-ms"), 1);
  if (ms !== undefined) return ms;
  const value = headers.get("retry-after");
  const seconds = toDelay(value, 1000);
  if (seconds !== undefined || value === null) return seconds;
  const until = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(until)) return undefined;
  const sentAt = Date.parse(headers.get("date") ?? "");
  return Math.max(0, until - (Number.isNaN(sentAt) ? now : sentAt));
}

function toDelay(value: string | null, unitMs: number): number | undefined {
  if (value === null || !/^\s*\d+(\.\d+)?\s*$/.test(value)) return undefined;
  return Math.min(Math.ceil(Number(value) * unitMs), Number.MAX_SAFE_INTEGER);
}
