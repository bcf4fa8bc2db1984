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

/** Answers from 10 to 410, votes from 420 to 830, a presentation from 840 to 1240; the slowest take 395, 405 and 400 ms. */
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
      name: "takes the middle one of an odd number of runs",
      values: [9, 1, 5],
      median: 5,
      min: 1,
      max: 9,
    },
    {
      name: "takes the mean of the middle two of an even number",
      values: [4, 1, 2, 100],
      median: 3,
      min: 1,
      max: 100,
    },
    { name: "sorts by value, not by spelling", values: [10, 9, 100], median: 10, min: 9, max: 100 },
    { name: "takes one run for all three", values: [7], median: 7, min: 7, max: 7 },
  ])("$name", ({ values, median, min, max }) => {
    const given = [...values];
    expect(spread(given)).toEqual({ median, min, max, runs: values.length });
    expect(given).toEqual(values);
  });

  it("refuses to make a figure of nothing", () => {
    expect(() => spread([])).toThrow("Nothing was measured");
  });
});

it("finds a quantile between two neighbours in proportion", () => {
  expect(quantile([0, 10, 20, 30, 40], 0.95)).toBeCloseTo(38);
});

describe("ratios", () => {
  it("divides each run by its own lower bound, so that a slow machine changes nothing", () => {
    expect(ratios([12, 24], [10, 20])).toEqual([1.2, 1.2]);
  });

  it("refuses figures of which one lacks its bound", () => {
    expect(() => ratios([12, 24], [10])).toThrow("lower bound");
  });
});

describe("criticalPathMs", () => {
  it.each([
    {
      name: "adds up the slowest call of each stage, and no time between calls",
      calls: RUN,
      ms: 395 + 405 + 400,
    },
    {
      name: "does not care in which order calls are listed",
      calls: RUN.toReversed(),
      ms: 395 + 405 + 400,
    },
    {
      name: "takes the slowest call, not the one that ended last",
      calls: [call("a", 0, 300), call("a", 200, 350)],
      ms: 300,
    },
  ])("$name", ({ calls, ms }) => {
    expect(criticalPathMs(calls)).toBe(ms);
  });

  it.each([
    { name: "refuses a run without calls", calls: [], message: "No provider was called" },
    {
      name: "refuses a run with a call that never ended",
      calls: [call("a", 0, null)],
      message: "still open",
    },
  ])("$name", ({ calls, message }) => {
    expect(() => criticalPathMs(calls)).toThrow(message);
  });
});

describe("gapsOf", () => {
  it("tells where the time went that no provider took", () => {
    expect(gapsOf(RUN, { startedAt: 0, endedAt: 1243 })).toEqual({
      beforeFirst: 10,
      between: 20,
      withinStages: 10,
      afterLast: 3,
    });
  });

  it("leaves nothing out: gaps and critical path make up the run", () => {
    const gaps = gapsOf(RUN, { startedAt: 0, endedAt: 1243 });
    const sum = Object.values(gaps).reduce((total, gap) => total + gap, 0);
    expect(sum + criticalPathMs(RUN)).toBe(1243);
  });
});

describe("callOverheads", () => {
  it("counts each call from the last end of the stage before it, and leaves out the first stage", () => {
    expect(callOverheads(RUN)).toEqual([10, 15, 10]);
  });

  it("does not care in which order calls are listed", () => {
    expect(callOverheads(RUN.toReversed()).toSorted()).toEqual([10, 10, 15]);
  });

  it("refuses a run with a call that never ended", () => {
    expect(() => callOverheads([call("a", 0, null), call("b", 5, 9)])).toThrow("still open");
  });
});

describe("growth", () => {
  it("is the median of all slopes, which a few slow runs cannot bend", () => {
    expect(slopeOf([1, 3, 5, 900, 9, 11, 13])).toBe(2);
    expect(slopeOf([5, 5, 90, 5, 5])).toBe(0);
  });

  it.each([
    {
      name: "is there when every series grew, however little",
      slopes: [0.1, 2, 0.3, 4, 0.5],
      isThere: true,
    },
    {
      name: "is not there when one of them did not",
      slopes: [0.1, 2, -0.3, 4, 0.5],
      isThere: false,
    },
    { name: "nor when one stayed as it was", slopes: [0.1, 2, 0, 4, 0.5], isThere: false },
    {
      name: "is there when four grew by much, and one did not",
      slopes: [1_000, 1_000, -0.3, 1_000, 1_000],
      isThere: true,
    },
    {
      name: "is there when most grew by more than may be",
      slopes: [11, -3, 11, -3, 11],
      isThere: true,
    },
    { name: "is not there when two strayed far", slopes: [400, -3, 9, 300, -3], isThere: false },
  ])("$name", ({ slopes, isThere }) => {
    expect(grows(slopes, 10)).toBe(isThere);
  });

  it("is not to be told from four series", () => {
    expect(() => grows([1, 1, 1, 1], 10)).toThrow("five series");
  });
});
