import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type BudgetFigure, judgeBudget } from "../budget";
import { DESCRIPTIONS } from "../descriptions";
import { judgeFanOut } from "../fan-out";
import { takeFit } from "../fit-runs";
import { MEASUREMENTS } from "../measurements";
import { times } from "../figure";
import { judgeResume, type ResumeFigure } from "../resume";
import { judgeGrowth } from "../round-overhead";
import { spread } from "../arithmetic";

describe("the figures of the benchmark", () => {
  const names = MEASUREMENTS.map(({ name }) => name);

  it("have unique names for --only and a description", () => {
    expect(new Set(names).size).toBe(names.length);
    for (const { name, about } of MEASUREMENTS) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(about).not.toBe("");
    }
  });

  it("are described in the order in which they run", () => {
    expect(MEASUREMENTS.map(({ measure: _, ...description }) => description)).toEqual(DESCRIPTIONS);
  });

  it("include every name that the documents pass to --only", () => {
    const pages = [
      "docs/explain/reliability.md",
      "docs/explain/performance.md",
      "docs/explain/scale.md",
    ]
      .map((page) => readFileSync(page, "utf8"))
      .join("\n");
    const named = [...pages.matchAll(/npm run bench -- --only ([a-z,-]+)/g)].flatMap(
      ([, list = ""]) => list.split(","),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !names.includes(name))).toEqual([]);
  });
});

it("a figure needs at least five runs, or one in the smallest size", () => {
  expect([times(5, { isSmall: false }), times(7, { isSmall: true })]).toEqual([5, 1]);
  expect(() => times(4, { isSmall: true })).toThrow("5 runs at least");
});

describe("takeFit", () => {
  /** Returns a function that takes runs, numbered from 1; it returns `null` for unusable runs. */
  const runsWith = (isFit: (run: number) => boolean) => {
    let run = 0;
    return async () => (isFit(++run) ? run : null);
  };
  const WANTED = { wanted: 5, fewest: 3, most: 12 };

  it.each([
    {
      name: "sets no run aside if all runs are usable",
      isFit: () => true,
      fit: [1, 2, 3, 4, 5],
      setAside: 0,
    },
    {
      name: "replaces each unusable run",
      isFit: (run: number) => run !== 1 && run !== 4,
      fit: [2, 3, 5, 6, 7],
      setAside: 2,
    },
    {
      name: "stops at the limit of tries",
      isFit: (run: number) => run % 3 === 0,
      fit: [3, 6, 9, 12],
      setAside: 8,
    },
  ])("$name", async ({ isFit, fit, setAside }) => {
    expect(await takeFit(runsWith(isFit), WANTED)).toEqual({ fit, setAside });
  });

  it("throws if too few runs are usable", async () => {
    const takenRuns = takeFit(
      runsWith((run) => run % 5 === 0),
      WANTED,
    );
    await expect(takenRuns).rejects.toThrow("Only 2 of 12 runs were usable; this figure needs 3.");
  });
});

it.each([
  {
    name: "is met if the differences vary around zero",
    differences: [-2.8, -1.5, -2, 2, 1],
    bare: [-0.6, 0.8],
    outcome: "met",
  },
  {
    name: "is missed if four of five sessions grow by 1 ms per round",
    differences: [1_000, 1_000, 1_000, 1_000, -1],
    bare: [-0.6, 0.8],
    outcome: "missed",
  },
  {
    name: "is missed if all five sessions grow a little",
    differences: [0.5, 1, 0.2, 2, 1],
    bare: [-0.6, 0.8],
    outcome: "missed",
  },
  {
    name: "is met on a busy machine if sessions vary as bare loops do",
    differences: [70, 90, -40, 240, -9],
    bare: [-197, 89],
    outcome: "met",
  },
  {
    name: "is missed on a busy machine if sessions grow much more than bare loops",
    differences: [900, 990, -40, 940, -9],
    bare: [-197, 89],
    outcome: "missed",
  },
])("the aim for growth $name", ({ differences, bare, outcome }) => {
  expect(judgeGrowth({ differences, bare })).toMatch(new RegExp(`: ${outcome}$`));
});

const EXACT_RESUME: ResumeFigure = {
  runs: 2,
  disconnects: 1_339,
  readers: 40,
  frames: 2_080,
  lost: 0,
  doubled: 0,
  differing: 0,
};

it.each([
  {
    name: "passes if every reader received every frame once",
    wrong: {},
    aim: "0: met",
    broken: 0,
  },
  {
    name: "fails the benchmark for one lost frame",
    wrong: { lost: 1 },
    aim: "0: missed",
    broken: 1,
  },
  {
    name: "fails the benchmark for one duplicate frame",
    wrong: { doubled: 1 },
    aim: "0: missed",
    broken: 1,
  },
  {
    name: "fails the benchmark for one reader with other bytes",
    wrong: { differing: 1 },
    aim: "0: missed",
    broken: 1,
  },
  {
    name: "fails the benchmark if there are no frames that could be lost",
    wrong: { frames: 0 },
    aim: "0: missed",
    broken: 1,
  },
])("the figure resume $name", ({ wrong, aim, broken }) => {
  const figure = judgeResume({ ...EXACT_RESUME, ...wrong }, 7);
  expect(figure.lines.map((line) => line.aim)).toEqual([aim]);
  expect(figure.broken).toHaveLength(broken);
});

const KEPT_CAPS: BudgetFigure = {
  ...{ runs: 60, overshot: 0, mostOfCap: 0.9951, close: 8 },
  ...{ endings: { completed: 48, failed: 12 }, calls: 209 },
};

it("the figure budget reports how close the runs came to their caps", () => {
  const [line] = judgeBudget(KEPT_CAPS, 7).lines;
  expect(line?.measured).toBe("0; at most 99.51 % of a cap was used, and over 95 % by 8");
});

it.each([
  { name: "passes if no run cost more than its cap", wrong: {}, aim: "0: met", broken: 0 },
  {
    name: "fails the benchmark for one run that cost more than its cap",
    wrong: { overshot: 1 },
    aim: "0: missed",
    broken: 1,
  },
  {
    name: "fails the benchmark if no run cost anything, because no cap was tested",
    wrong: { mostOfCap: 0 },
    aim: "0: missed",
    broken: 1,
  },
])("the figure budget $name", ({ wrong, aim, broken }) => {
  const figure = judgeBudget({ ...KEPT_CAPS, ...wrong }, 7);
  expect(figure.lines.map((line) => line.aim)).toEqual([aim]);
  expect(figure.broken).toHaveLength(broken);
});

it.each([
  {
    name: "is met if latencies are low at the full event rate",
    p95Ms: [240, 249, 260],
    rates: [101, 104, 105],
    outcome: "met",
  },
  {
    name: "is missed if the median latency is not below the limit",
    p95Ms: [240, 250, 260],
    rates: [101, 104, 105],
    outcome: "missed",
  },
  {
    name: "is missed if one run had a lower event rate than the aim",
    p95Ms: [140, 150, 160],
    rates: [99.9, 104, 105],
    outcome: "missed",
  },
])("the aim for fan-out $name", ({ p95Ms, rates, outcome }) => {
  const judged = judgeFanOut({ p95Ms: spread(p95Ms), eventsPerSecond: spread(rates) });
  expect(judged).toBe(`< 250 at ≥ 100 events/s: ${outcome}`);
});
