import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  spendingAt,
  correctUsage,
  earliestStart,
  NO_SPENDING,
  type Spending,
  recordStart,
} from "../../src/rate-limits/backend-rates";

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Spending is counted in buckets of this length, so a call may wait that much longer. */
const [MINUTE_BUCKET, DAY_BUCKET] = [SECOND, 5 * MINUTE];
type Call = readonly [at: number, tokens: number];
const spendingOf = (...calls: Call[]): Spending =>
  calls.reduce((spent, [at, tokens]) => recordStart(spent, tokens, at), NO_SPENDING);

describe("a call may start", () => {
  it.each<{
    name: string;
    spent?: Call[];
    limits: object;
    tokens?: number;
    now?: number;
    startsAt: number;
  }>([
    { name: "at once if no call was made", limits: { requestsPerMinute: 1 }, startsAt: 0 },
    { name: "at once if there is no limit", spent: [[0, 1e9]], limits: {}, startsAt: 0 },
    {
      name: "at once if it is the last one that its minute allows",
      spent: [
        [0, 1],
        [0, 1],
      ],
      limits: { requestsPerMinute: 3 },
      startsAt: 0,
    },
    {
      name: "when the oldest call is a minute old, if the minute is full",
      spent: [
        [0, 1],
        [5 * SECOND, 1],
      ],
      limits: { requestsPerMinute: 2 },
      now: 6 * SECOND,
      startsAt: MINUTE + MINUTE_BUCKET,
    },
    {
      name: "when the tokens of two earlier calls are a minute old, if both are needed",
      spent: [
        [0, 60],
        [10 * SECOND, 40],
      ],
      limits: { tokensPerMinute: 100 },
      tokens: 70,
      now: 20 * SECOND,
      startsAt: 10 * SECOND + MINUTE + MINUTE_BUCKET,
    },
    {
      name: "when the tokens of the oldest call are a minute old, if these suffice",
      spent: [
        [0, 60],
        [10 * SECOND, 40],
      ],
      limits: { tokensPerMinute: 100 },
      tokens: 60,
      now: 20 * SECOND,
      startsAt: MINUTE + MINUTE_BUCKET,
    },
    {
      name: "when the daily limit allows it",
      spent: [
        [0, 1],
        [HOUR, 1],
      ],
      limits: { requestsPerDay: 2 },
      now: 2 * HOUR,
      startsAt: DAY + DAY_BUCKET,
    },
    {
      name: "when both the limit per minute and the limit per day allow it",
      spent: [
        [0, 10],
        [HOUR, 10],
      ],
      limits: { requestsPerMinute: 1, tokensPerDay: 25 },
      tokens: 10,
      now: HOUR,
      startsAt: DAY + DAY_BUCKET,
    },
    {
      name: "when no other call counts, if it is larger than the limit",
      spent: [[0, 5]],
      limits: { tokensPerMinute: 100 },
      tokens: 500,
      startsAt: MINUTE + MINUTE_BUCKET,
    },
    {
      name: "at once if it is larger than the limit and no other call counts",
      limits: { tokensPerMinute: 100 },
      tokens: 500,
      startsAt: 0,
    },
    {
      name: "a minute later if the clock was set back by an hour",
      spent: [[HOUR, 1]],
      limits: { requestsPerMinute: 1 },
      now: 0,
      startsAt: MINUTE + MINUTE_BUCKET,
    },
    {
      name: "a day later if the clock was set back and the limit is per day",
      spent: [[HOUR, 1]],
      limits: { requestsPerDay: 1 },
      now: 0,
      startsAt: DAY + DAY_BUCKET,
    },
    {
      name: "when the calls before and after a clock change allow it",
      spent: [
        [HOUR, 1],
        [20 * SECOND, 1],
      ],
      limits: { requestsPerMinute: 2 },
      now: 30 * SECOND,
      startsAt: 20 * SECOND + MINUTE + MINUTE_BUCKET,
    },
    {
      name: "at once if the clock was set forward by an hour",
      spent: [[0, 1]],
      limits: { requestsPerMinute: 1 },
      now: HOUR,
      startsAt: HOUR,
    },
  ])("$name", ({ spent = [], limits, tokens = 1, now = 0, startsAt }) => {
    expect(earliestStart(spendingOf(...spent), limits, tokens, now)).toBe(startsAt);
  });

  it("earlier if the actual usage of an earlier call was smaller than its estimate", () => {
    const limits = { tokensPerMinute: 100 };
    const spent = spendingOf([0, 90], [SECOND, 10]);
    expect(earliestStart(spent, limits, 50, SECOND)).toBe(61 * SECOND);
    expect(
      earliestStart(correctUsage(spent, { at: 0, tokensDelta: -80 }), limits, 50, SECOND),
    ).toBe(SECOND);
    expect(
      earliestStart(correctUsage(spent, { at: 5 * HOUR, tokensDelta: -80 }), limits, 50, SECOND),
    ).toBe(61 * SECOND);
  });
});

describe("spending in the future, because the clock was set back", () => {
  const hourAhead = spendingOf([HOUR, 30], [HOUR + 2 * SECOND, 30], [HOUR + MINUTE, 30]);

  it("is moved to the time of the first read, and is not moved again", () => {
    const spent = spendingAt(hourAhead, 0);
    expect(spent.minute).toEqual([{ start: 0, requests: 3, tokens: 90 }]);
    expect(spendingAt(spent, 5 * SECOND)).toEqual(spent);
  });

  it("can be corrected in both windows", () => {
    const spent = correctUsage(spendingAt(hourAhead, 0), {
      at: 0,
      tokensDelta: -20,
      requestsDelta: -1,
    });
    expect(spent.minute).toEqual([{ start: 0, requests: 2, tokens: 70 }]);
    expect(spent.day).toEqual([{ start: 0, requests: 2, tokens: 70 }]);
  });
});

it("the stored spending does not grow with the number of calls", () => {
  let spent = NO_SPENDING;
  for (let at = 0; at < 2 * DAY; at += 20 * SECOND) spent = recordStart(spent, 10, at);
  expect(spent.minute.length).toBeLessThanOrEqual(62);
  expect(spent.day.length).toBeLessThanOrEqual(290);
});

it("calls that start at the computed times exceed no limit, and wait too long by at most one bucket", () => {
  const call = fc.record({
    gap: fc.integer({ min: 0, max: 20_000 }),
    tokens: fc.integer({ min: 1, max: 100 }),
  });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 60 }), (calls) => {
      const limits = { requestsPerMinute: 5, tokensPerMinute: 200 };
      const earlier: { at: number; tokens: number }[] = [];
      let [spent, now] = [NO_SPENDING, 0];
      for (const { gap, tokens } of calls) {
        const requestedAt = now + gap;
        now = earliestStart(spent, limits, tokens, requestedAt);
        expect(now).toBeLessThanOrEqual(
          exactStart(earlier, { tokens, requestedAt }) + MINUTE_BUCKET,
        );
        spent = recordStart(spent, tokens, now);
        earlier.push({ at: now, tokens });
        const minute = earlier.filter(({ at }) => at > now - MINUTE);
        expect(minute.length).toBeLessThanOrEqual(5);
        expect(minute.reduce((sum, call) => sum + call.tokens, 0)).toBeLessThanOrEqual(200);
      }
    }),
  );
});

/**
 * The exact earliest start, found independently: tries the requested time and each time at which an
 * earlier call is a minute old.
 */
function exactStart(
  earlier: { at: number; tokens: number }[],
  { tokens, requestedAt }: { tokens: number; requestedAt: number },
): number {
  const fits = (when: number) => {
    const minute = earlier.filter(({ at }) => at > when - MINUTE);
    return minute.length < 5 && minute.reduce((sum, call) => sum + call.tokens, tokens) <= 200;
  };
  return (
    [requestedAt, ...earlier.map(({ at }) => at + MINUTE)]
      .filter((when) => when >= requestedAt && fits(when))
      .sort((a, b) => a - b)[0] ?? requestedAt
  );
}
