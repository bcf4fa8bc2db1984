import { describe, expect, it } from "vitest";
import {
  growthOf,
  type RestSample,
  type Sample,
  type SoakFigures,
  shortcomings,
  verdictOf,
} from "../soak/figures";
import { toRestLine, toSampleLine, toSoakReport } from "../soak/report";

/** Alternates, so that neighbours show no trend. */
const noise = (at: number): number => ((at * 7) % 11) / 11 - 0.5;

const MB = 1_000_000;
/** Random numbers from 0 to 1 by a fixed seed. */
const chanceOf = (seed: number) => {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

type Shape = {
  minutes: number;
  heapPerHour?: number;
  jitter?: number;
  kbEach?: (ended: number) => number;
};

/** One sample per minute. */
function samplesOf({ minutes, kbEach = () => 100 }: Shape): Sample[] {
  let disk = 0;
  return Array.from({ length: minutes + 1 }, (_, at) => {
    disk += at === 0 ? 0 : 60 * kbEach(at * 60) * 1_000;
    return {
      minutes: at,
      live: (30 + 20 * (noise(at) + 0.5)) * MB,
      resident: 200 * MB,
      own: 300 * MB,
      disk,
      ended: at * 60,
    };
  });
}

/** Twelve samples at rest. */
function restsOf({ minutes, heapPerHour = 0, jitter = 0.2 }: Shape): RestSample[] {
  const warm = Array.from({ length: 12 }, (_, at) => ({
    minutes: ((at + 1) * minutes) / 12,
    live: (30 + (heapPerHour * (at + 1) * minutes) / 12 / 60 + jitter * noise(at)) * MB,
    resident: 200 * MB,
  }));
  return [{ minutes: 0, live: 20 * MB, resident: 150 * MB }, ...warm];
}

const figuresOf = (shape: Shape, more: Partial<SoakFigures> = {}): SoakFigures => ({
  seed: 7,
  sessions: 50,
  minutes: shape.minutes,
  runs: { story: 3_000, erased: 600 },
  faultCounts: [
    { name: "objects are reset", tried: 4, met: 4 },
    { name: "alarms cannot be set", tried: 3, met: 1 },
  ],
  failures: [],
  samples: samplesOf(shape),
  atRest: restsOf(shape),
  endedEarly: null,
  ...more,
});

const MET = { name: "objects are reset", tried: 4, met: 4 };
const BROKEN = [
  {
    name: "session 5 (story)",
    problems: ["I1: a gap", "I4: no end"],
    folder: "kept/here",
    command: "again 7",
  },
];

describe("a soak passes", () => {
  const HOUR = { minutes: 60 };
  it.each([
    { name: "if no promise was broken and nothing grew", figures: figuresOf(HOUR), because: [] },
    {
      name: "not if a promise was broken",
      figures: figuresOf(HOUR, { failures: BROKEN }),
      because: ["2 promises were broken"],
    },
    {
      name: "not if no session ended",
      figures: figuresOf(HOUR, { runs: {} }),
      because: ["no session ended"],
    },
    {
      name: "not if nothing met any fault",
      figures: figuresOf(HOUR, { faultCounts: [{ name: "objects are reset", tried: 9, met: 0 }] }),
      because: ["nothing met any of the faults"],
    },
    {
      name: "if it ended before the first fault",
      figures: figuresOf(HOUR, { faultCounts: [] }),
      because: [],
    },
    {
      name: "if its heap grew by less than a megabyte an hour",
      figures: figuresOf({ ...HOUR, heapPerHour: 0.5 }),
      because: [],
    },
    {
      name: "not if its heap grew by more",
      figures: figuresOf({ ...HOUR, heapPerHour: 4 }),
      because: [
        expect.stringMatching(/^the heap grew by (3\.9|4\.\d) MB an hour, by [34]\.\d at least$/),
      ],
    },
    {
      name: "if its heap seems to grow by more, with far larger noise",
      figures: figuresOf({ ...HOUR, heapPerHour: 4, jitter: 20 }),
      because: [],
    },
    {
      name: "not after hours without a clear result about its heap",
      figures: figuresOf({ minutes: 240, heapPerHour: 1, jitter: 20 }),
      because: [
        expect.stringMatching(/^the heap may have grown by as much as \d+\.\d MB an hour$/),
      ],
    },
    {
      name: "after hours in which its heap did not grow",
      figures: figuresOf({ minutes: 240, heapPerHour: 0.5 }),
      because: [],
    },
    {
      name: "if it was too short for a meaningful slope",
      figures: figuresOf({ minutes: 29, heapPerHour: 400 }),
      because: [],
    },
    {
      name: "not if its heap grew for half an hour",
      figures: figuresOf({ minutes: 30, heapPerHour: 40 }),
      because: [expect.stringMatching(/^the heap grew by \d/)],
    },
    {
      name: "not if its heap was rarely measured",
      figures: figuresOf(HOUR, {
        atRest: restsOf(HOUR).map((seen, at) => (at % 3 === 0 ? seen : { ...seen, live: null })),
      }),
      because: ["the heap was measured too rarely"],
    },
    {
      name: "not if a fault that was drawn often met nothing",
      figures: figuresOf(HOUR, {
        faultCounts: [MET, { name: "alarms cannot be set", tried: 5, met: 0 }],
      }),
      because: ["nothing met this, 5 times: alarms cannot be set"],
    },
    {
      name: "if a fault that was drawn rarely met nothing",
      figures: figuresOf(HOUR, {
        faultCounts: [MET, { name: "alarms cannot be set", tried: 4, met: 0 }],
      }),
      because: [],
    },
    {
      name: "if it was interrupted",
      figures: figuresOf({ minutes: 2 }, { endedEarly: "interrupted" }),
      because: [],
    },
    {
      name: "not if it had to end early",
      figures: figuresOf({ minutes: 2 }, { endedEarly: "the disk is full" }),
      because: ["it ended early: the disk is full"],
    },
  ])("$name", ({ figures, because }) => {
    expect(shortcomings(figures)).toEqual(because);
    const last = toSoakReport(figures)
      .trimEnd()
      .split("\n")
      .filter((line) => line.startsWith("✗ ") && !line.includes("session 5"));
    expect(last).toEqual(shortcomings(figures).map((why) => `✗ ${why}`));
  });
});

describe("growth", () => {
  it("ignores the first tenth of the time", () => {
    const atRest = restsOf({ minutes: 60, jitter: 0 });
    const [cold, warming, ...warm] = atRest;
    const early = { minutes: 5, live: 25 * MB, resident: 160 * MB };
    expect(warming?.minutes).toBe(5);
    const { heap } = growthOf({
      samples: [],
      atRest: [...(cold ? [cold] : []), early, ...warm],
      minutes: 60,
    });
    expect(heap).toEqual({ each: 0, low: 0, high: 0, points: 11 });
  });

  // The disk use per session is random, so the sum drifts although nothing grows. Fixed seeds
  // decide how often that counts as growth.
  const someKb = (seed: number, of: (ended: number) => number) => {
    const chance = chanceOf(seed);
    return (ended: number) => of(ended) * (0.7 + 0.6 * chance());
  };
  const grew = (of: (ended: number) => number) =>
    Array.from(
      { length: 200 },
      (_, seed) => growthOf(figuresOf({ minutes: 60, kbEach: someKb(seed, of) })).disk,
    ).map((disk) => ({
      each: disk?.each ?? 0,
      growth: disk?.growth ?? { low: 0, high: 0 },
    }));

  it("on disk is rarely reported if sessions take the same space throughout", () => {
    const all = grew(() => 100);
    // one of twenty, of 200
    expect(all.filter(({ growth }) => growth.low > 0 || growth.high < 0).length).toBeLessThan(20);
    for (const { each } of all) expect(Math.abs(each - 100_000)).toBeLessThan(8_000);
  });

  it("on disk is reported if sessions take more and more space", () => {
    const all = grew((ended) => 70 + ended / 60); // from 70 to 130 kB
    expect(all.filter(({ growth }) => growth.low > 0).length).toBeGreaterThan(195);
  });

  it("on disk is unknown if no session ended", () => {
    const samples = samplesOf({ minutes: 9 }).map((sample) => ({ ...sample, ended: 0 }));
    expect(growthOf({ samples, atRest: [], minutes: 9 }).disk).toBeNull();
  });
});

describe("a leak of the heap", () => {
  const SESSIONS_PER_MINUTE = 25;
  /** Repeats, so that the share of wrong verdicts shows. */
  const SOAKS = 200;
  /** The spread of samples at rest and with active sessions, in MB, as in soaks of an hour. */
  const SPREAD = { atRest: 0.3, active: 6 };

  /** Draws with a normal distribution, by a fixed seed. */
  const normalOf = (seed: number) => {
    const chance = chanceOf(seed);
    for (let warmUp = 0; warmUp < 9; warmUp += 1) chance();
    return () => Array.from({ length: 12 }, chance).reduce((sum, one) => sum + one, -6);
  };

  /** Two hours with a leak in each session. Returns the verdicts at rest and of the minutes. */
  function verdictsOf(leakedBytes: number, seed: number) {
    const draw = normalOf(seed);
    const heap = (minutes: number, spread: number) =>
      30 * MB + leakedBytes * SESSIONS_PER_MINUTE * minutes + spread * MB * draw();
    const atRest = Array.from({ length: 11 }, (_, at) => {
      const minutes = at * 12;
      return { minutes, live: heap(minutes, SPREAD.atRest), resident: 0 };
    });
    const samples = samplesOf({ minutes: 120 }).map((sample) => ({
      ...sample,
      live: heap(sample.minutes, SPREAD.active),
    }));
    const slopes = growthOf({ samples, atRest, minutes: 120 });
    return { atRest: verdictOf(slopes.heap), active: verdictOf(slopes.activeHeap) };
  }

  it.each([
    { leak: 0, atRest: [0, 0.06], active: [0, 0.06] },
    { leak: 250, atRest: [0.3, 1], active: [0, 0.3] },
    { leak: 1_000, atRest: [1, 1], active: [0.15, 1] },
    { leak: 4_000, atRest: [1, 1], active: [1, 1] },
  ] as const)("of $leak bytes per session is found", ({ leak, ...shares }) => {
    const all = Array.from({ length: SOAKS }, (_, seed) => verdictsOf(leak, seed));
    for (const which of ["atRest", "active"] as const) {
      const share = all.filter((verdicts) => verdicts[which] === "growth").length / SOAKS;
      const [least, most] = shares[which];
      expect(share, which).toBeGreaterThanOrEqual(least);
      expect(share, which).toBeLessThanOrEqual(most);
    }
  });

  it("is unknown for too few samples", () => {
    expect(verdictOf(null)).toBe("unknown");
  });
});

describe("the report", () => {
  it("has the figures", () => {
    const figures = figuresOf({ minutes: 60, jitter: 0, heapPerHour: 0.5 });
    expect(toSoakReport(figures).split("\n")).toEqual([
      "Minutes          60.0",
      "Sessions         3600, 50 at a time: 600 erased, 3000 story",
      "Faults           5 of 7 were met by something",
      "                 1 of 3: alarms cannot be set",
      "                 4 of 4: objects are reset",
      "Broken promises  0",
      "Heap at rest     from 30.0 MB to 30.5 MB; 0.50 MB an hour (0.50 to 0.50, of 11 samples): it grows (aim: 1 at most)",
      "                 20.0 MB before the first session; at most 48.2 MB with active sessions, garbage included",
      expect.stringMatching(
        /^Heap under load {2}-?\d+\.\d\d MB an hour \(-\d.*, of 55 samples\): not distinguishable from none$/,
      ),
      "Process          from 200.0 MB to 200.0 MB; 0.00 MB an hour (0.00 to 0.00, of 11 samples): not distinguishable from none",
      "This command     from 300.0 MB to 300.0 MB; 0.00 MB an hour (0.00 to 0.00, of 55 samples): not distinguishable from none",
      "On disk          from 0.0 MB to 360.0 MB; 100 kB for each session that ended, for every thousand 0.0 kB (0.0 to 0.0) more",
      "Seed             7",
      "",
    ]);
  });

  it("has failures first, with their evidence and command", () => {
    const lines = toSoakReport(
      figuresOf({ minutes: 3 }, { failures: BROKEN, endedEarly: "interrupted" }),
    ).split("\n");
    expect(lines.slice(0, 6)).toEqual([
      "✗ session 5 (story): I1: a gap",
      "✗ session 5 (story): I4: no end",
      "  kept in kept/here",
      "  again: again 7",
      "",
      "Minutes          3.0, then it ended: interrupted",
    ]);
    expect(lines.find((line) => line.startsWith("Heap at rest"))).toContain(
      "below 30 minutes it means little",
    );
  });

  it("names missing figures", () => {
    const report = toSoakReport(figuresOf({ minutes: 1 }, { samples: [], atRest: [] }));
    expect(report).toContain("Heap at rest     never seen; too few samples for a slope");
    expect(report).toContain("not seen before the first session; never seen with active sessions");
    expect(report).toContain("On disk          never seen; too few sessions ended");
  });

  it.each([
    { live: 31 * MB, says: "6.0 min, at rest: 31.0 MB live, 200.0 MB in all" },
    { live: null, says: "6.0 min, at rest: heap not seen, 200.0 MB in all" },
  ])("has a line for each sample at rest: $says", ({ live, says }) => {
    expect(toRestLine({ minutes: 6, live, resident: 200 * MB })).toBe(says);
  });

  it.each([
    {
      live: 30 * MB,
      says: "2.0 min: 30.0 MB live, 200.0 MB in all, 12.0 MB on disk, 120 sessions ended",
    },
    {
      live: null,
      says: "2.0 min: heap not seen, 200.0 MB in all, 12.0 MB on disk, 120 sessions ended",
    },
  ])("has a line for each sample: $says", ({ live, says }) => {
    expect(
      toSampleLine({ minutes: 2, live, resident: 200 * MB, own: 0, disk: 12 * MB, ended: 120 }),
    ).toBe(says);
  });
});
