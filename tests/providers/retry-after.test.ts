import { expect, it } from "vitest";
import {
  delayInWords,
  durationMs,
  limitResetMs,
  retryAfterMs,
} from "../../src/providers/retry-after";

const NOW = Date.parse("2026-11-01T12:00:00Z");

it.each([
  { name: "nothing", headers: {}, expected: undefined },
  { name: "seconds", headers: { "retry-after": "20" }, expected: 20_000 },
  { name: "fractions of a second", headers: { "retry-after": "1.5" }, expected: 1_500 },
  {
    name: "milliseconds before seconds",
    headers: { "retry-after-ms": "250", "retry-after": "1" },
    expected: 250,
  },
  {
    name: "an HTTP date",
    headers: { "retry-after": "Sun, 01 Nov 2026 12:00:30 GMT" },
    expected: 30_000,
  },
  {
    name: "an HTTP date, compared with the clock of the server",
    headers: {
      "retry-after": "Sun, 01 Nov 2026 13:00:30 GMT",
      date: "Sun, 01 Nov 2026 13:00:00 GMT",
    },
    expected: 30_000,
  },
  {
    name: "a date in the past",
    headers: { "retry-after": "Sun, 01 Nov 2026 11:00:00 GMT" },
    expected: 0,
  },
  {
    name: "a very large number, unchanged",
    headers: { "retry-after": "1000000000" },
    expected: 1e12,
  },
  {
    name: "a number larger than any integer",
    headers: { "retry-after": "9".repeat(400) },
    expected: Number.MAX_SAFE_INTEGER,
  },
  { name: "a negative number as no delay", headers: { "retry-after": "-1" }, expected: undefined },
  { name: "an invalid value as no delay", headers: { "retry-after": "soon" }, expected: undefined },
])("reads $name", ({ headers, expected }) =>
  expect(retryAfterMs(new Headers(Object.entries(headers)), NOW)).toBe(expected),
);

const DATE = "Sun, 01 Nov 2026 12:00:00 GMT";
it.each([
  { name: "nothing", headers: {}, expected: undefined },
  {
    name: "the exhausted limit, not a longer limit that is not exhausted",
    headers: {
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "6m0s",
      "x-ratelimit-remaining-requests": "5",
      "x-ratelimit-reset-requests": "2h",
    },
    expected: 360_000,
  },
  {
    name: "the later of two exhausted limits",
    headers: {
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "120ms",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1s",
    },
    expected: 1_000,
  },
  {
    name: "a time, compared with the clock of the response",
    headers: {
      "some-ratelimit-tokens-remaining": "0",
      "some-ratelimit-tokens-reset": "2026-11-01T12:00:21Z",
      date: DATE,
    },
    expected: 21_000,
  },
  {
    name: "a time in the past",
    headers: {
      "some-ratelimit-tokens-remaining": "0",
      "some-ratelimit-tokens-reset": "2026-11-01T11:00:00Z",
      date: DATE,
    },
    expected: 0,
  },
  {
    name: "plain seconds",
    headers: {
      "x-ratelimit-remaining-tokens-minute": "0",
      "x-ratelimit-reset-tokens-minute": "33.5",
    },
    expected: 33_500,
  },
  {
    name: "a limit without its reset as no delay",
    headers: { "x-ratelimit-remaining-tokens": "0" },
    expected: undefined,
  },
  {
    name: "an invalid value as no delay",
    headers: { "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "soon" },
    expected: undefined,
  },
])("reads from rate limits $name", ({ headers, expected }) => {
  expect(limitResetMs(new Headers(Object.entries(headers)), NOW)).toBe(expected);
});

it.each([
  ["Please try again in 1.2s.", 1_200],
  ["Please try again in 6m0s. Visit https://x.test", 360_000],
  ["Please try again in 250ms.", 250],
  ["try again in 1h2m3.5s", 3_723_500],
  ["Please retry in 34.074824224s.", 34_075],
  ["Please retry after 86400 seconds.", 86_400_000],
  ["please wait for 2 minutes, then ask again", 120_000],
  ["please try again after about 1 minute", 60_000],
  ["try again in 2d", 172_800_000],
  ["Please try again later.", undefined],
  ["try again in 3 months", undefined],
  ["try again in -5s", undefined],
  ["the model has 5s of thought", undefined],
])("reads the wait in: %s", (words, expected) => expect(delayInWords(words)).toBe(expected));

it.each([
  ["34s", 34_000],
  ["0.5s", 500],
  ["6m0s", 360_000],
  ["1h", 3_600_000],
  ["0s", 0],
  ["s", undefined],
  ["-3s", undefined],
  ["3 months", undefined],
  ["", undefined],
])("reads %j as a duration", (text, expected) => expect(durationMs(text)).toBe(expected));
