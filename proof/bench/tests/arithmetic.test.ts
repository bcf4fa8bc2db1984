import { describe, expect, it } from "vitest";
import {
  callOverheads,
  criticalPathMs,
  gapsOf,
  grows,
  quantile,
  ratios,
  type ServedCall,
  slopeOf,
  spread,
} from "../arithmetic";

const call = (stage: string, startedAt: number, endedAt: number | null): ServedCall => ({
  stage,
  startedAt,
  endedAt,
});

/**
 * A run of three stages: answers from 10 to 410, votes from 420 to 830, and a presentation from 840
 * to 1240 ms. The slowest calls of these stages take 395, 405 and 400 ms.
 */
const RUN = [
  call("first_answer", 10, 400),
  call("first_answer", 15, 410),
  call("deciding", 420, 800),
  call("deciding", 425, 830),
  call("presentation", 840, 1240),
];

describe("spread", () => {
  it.each([
    {
      name: "takes the middle value of an odd number of runs",
      values: [9, 1, 5],
      median: 5,
      min: 1,
      max: 9,
    },
    {
      name: "takes the mean of the two middle values of an even number",
      values: [4, 1, 2, 100],
      median: 3,
      min: 1,
      max: 100,
    },
    { name: "sorts numerically", values: [10, 9, 100], median: 10, min: 9, max: 100 },
    {
      name: "takes a single value as median, minimum and maximum",
      values: [7],
      median: 7,
      min: 7,
      max: 7,
    },
  ])("$name", ({ values, median, min, max }) => {
    const input = [...values];
    expect(spread(input)).toEqual({ median, min, max, runs: values.length });
    expect(input).toEqual(values);
  });

  it("throws without values", () => {
    expect(() => spread([])).toThrow("Nothing was measured");
  });
});

it("interpolates a quantile between two neighbours", () => {
  expect(quantile([0, 10, 20, 30, 40], 0.95)).toBeCloseTo(38);
});

describe("ratios", () => {
  it("divides each run by the lower bound of the same run", () => {
    expect(ratios([12, 24], [10, 20])).toEqual([1.2, 1.2]);
  });

  it("throws if a bound is missing", () => {
    expect(() => ratios([12, 24], [10])).toThrow("lower bound");
  });
});

describe("criticalPathMs", () => {
  it.each([
    {
      name: "adds up the slowest call of each stage, without the time between stages",
      calls: RUN,
      ms: 395 + 405 + 400,
    },
    {
      name: "does not depend on the order of calls",
      calls: RUN.toReversed(),
      ms: 395 + 405 + 400,
    },
    {
      name: "takes the call that takes longest, not the call that ends last",
      calls: [call("a", 0, 300), call("a", 200, 350)],
      ms: 300,
    },
  ])("$name", ({ calls, ms }) => {
    expect(criticalPathMs(calls)).toBe(ms);
  });

  it.each([
    { name: "throws for a run without calls", calls: [], message: "No provider was called" },
    {
      name: "throws for a run with a call that never ended",
      calls: [call("a", 0, null)],
      message: "still open",
    },
  ])("$name", ({ calls, message }) => {
    expect(() => criticalPathMs(calls)).toThrow(message);
  });
});

describe("gapsOf", () => {
  it("splits the time outside the critical path by place", () => {
    expect(gapsOf(RUN, { startedAt: 0, endedAt: 1243 })).toEqual({
      beforeFirst: 10,
      between: 20,
      withinStages: 10,
      afterLast: 3,
    });
  });

  it("returns gaps that add up to the run's time together with the critical path", () => {
    const gaps = gapsOf(RUN, { startedAt: 0, endedAt: 1243 });
    const sum = Object.values(gaps).reduce((total, gap) => total + gap, 0);
    expect(sum + criticalPathMs(RUN)).toBe(1243);
  });
});

describe("callOverheads", () => {
  it("measures from the end of the previous stage to each call, without the first stage", () => {
    expect(callOverheads(RUN)).toEqual([10, 15, 10]);
  });

  it("does not depend on the order of calls", () => {
    expect(callOverheads(RUN.toReversed()).toSorted()).toEqual([10, 10, 15]);
  });

  it("throws for a run with a call that never ended", () => {
    expect(() => callOverheads([call("a", 0, null), call("b", 5, 9)])).toThrow("still open");
  });
});

describe("growth", () => {
  it("is the median of all slopes, so a few slow runs do not change it", () => {
    expect(slopeOf([1, 3, 5, 900, 9, 11, 13])).toBe(2);
    expect(slopeOf([5, 5, 90, 5, 5])).toBe(0);
  });

  it.each([
    {
      name: "is found if every series grew, even a little",
      slopes: [0.1, 2, 0.3, 4, 0.5],
      isFound: true,
    },
    {
      name: "is not found if one series shrank",
      slopes: [0.1, 2, -0.3, 4, 0.5],
      isFound: false,
    },
    {
      name: "is not found if one series stayed the same",
      slopes: [0.1, 2, 0, 4, 0.5],
      isFound: false,
    },
    {
      name: "is found if four series grew much and one series shrank",
      slopes: [1_000, 1_000, -0.3, 1_000, 1_000],
      isFound: true,
    },
    {
      name: "is found if most series grew by more than the limit",
      slopes: [11, -3, 11, -3, 11],
      isFound: true,
    },
    {
      name: "is not found if only two series grew much",
      slopes: [400, -3, 9, 300, -3],
      isFound: false,
    },
  ])("$name", ({ slopes, isFound }) => {
    expect(grows(slopes, 10)).toBe(isFound);
  });

  it("cannot be judged with fewer than five series", () => {
    expect(() => grows([1, 1, 1, 1], 10)).toThrow("five series");
  });
});
