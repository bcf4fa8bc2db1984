import { expect, it } from "vitest";
import { retryAfterMs } from "../../src/providers/retry-after";

const NOW = Date.parse("2026-11-01T12:00:00Z");

it.each([
  { name: "nothing", headers: {}, gives: undefined },
  { name: "seconds", headers: { "retry-after": "20" }, gives: 20_000 },
  { name: "parts of a second", headers: { "retry-after": "1.5" }, gives: 1_500 },
  { name: "milliseconds before seconds", headers: { "retry-after-ms": "250", "retry-after": "1" }, gives: 250 },
  { name: "an HTTP date", headers: { "retry-after": "Sun, 01 Nov 2026 12:00:30 GMT" }, gives: 30_000 },
  {
    name: "an HTTP date by the server's own clock",
    headers: { "retry-after": "Sun, 01 Nov 2026 13:00:30 GMT", date: "Sun, 01 Nov 2026 13:00:00 GMT" },
    gives: 30_000,
  },
  { name: "a date in the past", headers: { "retry-after": "Sun, 01 Nov 2026 11:00:00 GMT" }, gives: 0 },
  { name: "an absurd number, as it is", headers: { "retry-after": "1000000000" }, gives: 1e12 },
  { name: "a number beyond all numbers", headers: { "retry-after": "9".repeat(400) }, gives: Number.MAX_SAFE_INTEGER },
  { name: "a negative number as nothing", headers: { "retry-after": "-1" }, gives: undefined },
  { name: "garbage as nothing", headers: { "retry-after": "soon" }, gives: undefined },
])("reads $name", ({ headers, gives }) => expect(retryAfterMs(new Headers(Object.entries(headers)), NOW)).toBe(gives));
