import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  asOf,
  correct,
  earliestStart,
  NOTHING_SPENT,
  type Spending,
  spend,
} from "../../src/rate-limits/backend-rates";

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
type Call = readonly [at: number, tokens: number];
const spentBy = (...calls: Call[]): Spending =>
  calls.reduce((spent, [at, tokens]) => spend(spent, tokens, at), NOTHING_SPENT);

describe("a call may start", () => {
  it.each<{
    name: string;
    spent?: Call[];
    limits: object;
    tokens?: number;
    now?: number;
    at: number;
  }>([
    { name: "at once without usage", limits: { requestsPerMinute: 1 }, at: 0 },
    { name: "at once without a limit", spent: [[0, 1e9]], limits: {}, at: 0 },
    {
      name: "as the last of its minute",
      spent: [
        [0, 1],
        [0, 1],
      ],
      limits: { requestsPerMinute: 3 },
      at: 0,
    },
    {
      name: "when the first call of a full minute is a minute old",
      spent: [
        [0, 1],
        [5 * SECOND, 1],
      ],
      limits: { requestsPerMinute: 2 },
      now: 6 * SECOND,
      at: 61 * SECOND,
    },
    {
      name: "when enough tokens are a minute old",
      spent: [
        [0, 60],
        [10 * SECOND, 40],
      ],
      limits: { tokensPerMinute: 100 },
      tokens: 70,
      now: 20 * SECOND,
      at: 71 * SECOND,
    },
    {
      name: "when the first tokens are, if that is enough",
      spent: [
        [0, 60],
        [10 * SECOND, 40],
      ],
      limits: { tokensPerMinute: 100 },
      tokens: 60,
      now: 20 * SECOND,
      at: 61 * SECOND,
    },
    {
      name: "when the daily limit allows it",
      spent: [
        [0, 1],
        [HOUR, 1],
      ],
      limits: { requestsPerDay: 2 },
      now: 2 * HOUR,
      at: DAY + 300 * SECOND,
    },
    {
      name: "when both its minute and its day allow it",
      spent: [
        [0, 10],
        [HOUR, 10],
      ],
      limits: { requestsPerMinute: 1, tokensPerDay: 25 },
      tokens: 10,
      now: HOUR,
      at: DAY + 300 * SECOND,
    },
    {
      name: "alone, if it is larger than a whole limit",
      spent: [[0, 5]],
      limits: { tokensPerMinute: 100 },
      tokens: 500,
      at: 61 * SECOND,
    },
    {
      name: "at once, if it is larger and alone",
      limits: { tokensPerMinute: 100 },
      tokens: 500,
      at: 0,
    },
    {
      name: "a minute after the clock was set back by an hour",
      spent: [[HOUR, 1]],
      limits: { requestsPerMinute: 1 },
      now: 0,
      at: 61 * SECOND,
    },
    {
      name: "a day after it, if the daily limit applies",
      spent: [[HOUR, 1]],
      limits: { requestsPerDay: 1 },
      now: 0,
      at: DAY + 300 * SECOND,
    },
    {
      name: "when the usage before and after the clock change allows it",
      spent: [
        [HOUR, 1],
        [20 * SECOND, 1],
      ],
      limits: { requestsPerMinute: 2 },
      now: 30 * SECOND,
      at: 81 * SECOND,
    },
    {
      name: "at once after the clock was set forward by an hour",
      spent: [[0, 1]],
      limits: { requestsPerMinute: 1 },
      now: HOUR,
      at: HOUR,
    },
  ])("$name", ({ spent = [], limits, tokens = 1, now = 0, at }) => {
    expect(earliestStart(spentBy(...spent), limits, tokens, now)).toBe(at);
  });

  it("earlier, when a call's actual usage is smaller", () => {
    const limits = { tokensPerMinute: 100 };
    const spent = spentBy([0, 90], [SECOND, 10]);
    expect(earliestStart(spent, limits, 50, SECOND)).toBe(61 * SECOND);
    expect(earliestStart(correct(spent, { at: 0, tokensMore: -80 }), limits, 50, SECOND)).toBe(
      SECOND,
    );
    expect(
      earliestStart(correct(spent, { at: 5 * HOUR, tokensMore: -80 }), limits, 50, SECOND),
    ).toBe(61 * SECOND);
  });
});

describe("usage ahead of a clock that was set back", () => {
  const hourAhead = spentBy([HOUR, 30], [HOUR + 2 * SECOND, 30], [HOUR + MINUTE, 30]);

  it("counts from now on, however often it is read", () => {
    const spent = asOf(hourAhead, 0);
    expect(spent.minute).toEqual([{ start: 0, requests: 3, tokens: 90 }]);
    expect(asOf(spent, 5 * SECOND)).toEqual(spent);
  });

  it("is corrected once", () => {
    const spent = correct(asOf(hourAhead, 0), { at: 0, tokensMore: -20, requestsMore: -1 });
    expect(spent.minute).toEqual([{ start: 0, requests: 2, tokens: 70 }]);
    expect(spent.day).toEqual([{ start: 0, requests: 2, tokens: 70 }]);
  });
});

it("stays small in storage, for any number of calls", () => {
  let spent = NOTHING_SPENT;
  for (let at = 0; at < 2 * DAY; at += 20 * SECOND) spent = spend(spent, 10, at);
  expect(spent.minute.length).toBeLessThanOrEqual(62);
  expect(spent.day.length).toBeLessThanOrEqual(290);
});

it("calls that start when allowed never exceed a limit in any minute, and wait at most a second too long", () => {
  const call = fc.record({
    gap: fc.integer({ min: 0, max: 20_000 }),
    tokens: fc.integer({ min: 1, max: 100 }),
  });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 60 }), (calls) => {
      const limits = { requestsPerMinute: 5, tokensPerMinute: 200 };
      const made: { at: number; tokens: number }[] = [];
      let [spent, now] = [NOTHING_SPENT, 0];
      for (const { gap, tokens } of calls) {
        const asked = now + gap;
        now = earliestStart(spent, limits, tokens, asked);
        expect(now).toBeLessThanOrEqual(exactStart(made, { tokens, asked }) + SECOND);
        spent = spend(spent, tokens, now);
        made.push({ at: now, tokens });
        const minute = made.filter(({ at }) => at > now - MINUTE);
        expect(minute.length).toBeLessThanOrEqual(5);
        expect(minute.reduce((sum, one) => sum + one.tokens, 0)).toBeLessThanOrEqual(200);
      }
    }),
  );
});

/** Tries each moment at which a call leaves the minute: an independent result. */
function exactStart(
  made: { at: number; tokens: number }[],
  { tokens, asked }: { tokens: number; asked: number },
): number {
  const fits = (when: number) => {
    const minute = made.filter(({ at }) => at > when - MINUTE);
    return minute.length < 5 && minute.reduce((sum, one) => sum + one.tokens, tokens) <= 200;
  };
  return (
    [asked, ...made.map(({ at }) => at + MINUTE)]
      .filter((when) => when >= asked && fits(when))
      .sort((a, b) => a - b)[0] ?? asked
  );
}
