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

  it("include every name in the documents", () => {
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

describe("of unusable runs", () => {
  /** Takes numbered runs, from 1; `null` if a run is not usable. */
  const taking = (isFit: (run: number) => boolean) => {
    let run = 0;
    return async () => (isFit(++run) ? run : null);
  };
  const WANTED = { wanted: 5, fewest: 3, most: 12 };

  it.each([
    {
      name: "none is set aside if all are usable",
      isFit: () => true,
      fit: [1, 2, 3, 4, 5],
      setAside: 0,
    },
    {
      name: "each is set aside and replaced",
      isFit: (run: number) => run !== 1 && run !== 4,
      fit: [2, 3, 5, 6, 7],
      setAside: 2,
    },
    {
      name: "only a limited number is tried",
      isFit: (run: number) => run % 3 === 0,
      fit: [3, 6, 9, 12],
      setAside: 8,
    },
  ])("$name", async ({ isFit, fit, setAside }) => {
    expect(await takeFit(taking(isFit), WANTED)).toEqual({ fit, setAside });
  });

  it("too many prevent a figure", async () => {
    const few = takeFit(
      taking((run) => run % 5 === 0),
      WANTED,
    );
    await expect(few).rejects.toThrow("Only 2 of 12 runs were usable; this figure needs 3.");
  });
});

it.each([
  {
    name: "is met by variation around zero",
    differences: [-2.8, -1.5, -2, 2, 1],
    bare: [-0.6, 0.8],
    outcome: "met",
  },
  {
    name: "is missed by four of five sessions that grow by 1 ms a round",
    differences: [1_000, 1_000, 1_000, 1_000, -1],
    bare: [-0.6, 0.8],
    outcome: "missed",
  },
  {
    name: "is missed if all five grow a little",
    differences: [0.5, 1, 0.2, 2, 1],
    bare: [-0.6, 0.8],
    outcome: "missed",
  },
  {
    name: "is met by the variation of a busy machine",
    differences: [70, 90, -40, 240, -9],
    bare: [-197, 89],
    outcome: "met",
  },
  {
    name: "is missed on a busy machine by much more",
    differences: [900, 990, -40, 940, -9],
    bare: [-197, 89],
    outcome: "missed",
  },
])("growth $name", ({ differences, bare, outcome }) => {
  expect(judgeGrowth({ differences, bare })).toMatch(new RegExp(`: ${outcome}$`));
});

const RESUMED: ResumeFigure = {
  runs: 2,
  disconnects: 1_339,
  readers: 40,
  frames: 2_080,
  lost: 0,
  doubled: 0,
  differing: 0,
};

it.each([
  { name: "is met if every reader received every frame once", wrong: {}, aim: "0: met", broken: 0 },
  {
    name: "fails the benchmark for one lost frame",
    wrong: { lost: 1 },
    aim: "0: missed",
    broken: 1,
  },
  { name: "fails it for one duplicate frame", wrong: { doubled: 1 }, aim: "0: missed", broken: 1 },
  {
    name: "fails it for one reader with other bytes",
    wrong: { differing: 1 },
    aim: "0: missed",
    broken: 1,
  },
  {
    name: "fails it if there are no frames, so that none could be lost",
    wrong: { frames: 0 },
    aim: "0: missed",
    broken: 1,
  },
])("resume $name", ({ wrong, aim, broken }) => {
  const figure = judgeResume({ ...RESUMED, ...wrong }, 7);
  expect(figure.lines.map((line) => line.aim)).toEqual([aim]);
  expect(figure.broken).toHaveLength(broken);
});

const SPENT: BudgetFigure = {
  ...{ runs: 60, overshot: 0, mostOfCap: 0.9951, close: 8 },
  ...{ endings: { completed: 48, failed: 12 }, calls: 209 },
};

it("budget reports how close the runs came to their caps: only close runs can reveal too small a reservation", () => {
  const [line] = judgeBudget(SPENT, 7).lines;
  expect(line?.measured).toBe("0; at most 99.51 % of a cap was used, and over 95 % by 8");
});

it.each([
  { name: "is met if no run cost more than its cap", wrong: {}, aim: "0: met", broken: 0 },
  {
    name: "fails the benchmark for one such run",
    wrong: { overshot: 1 },
    aim: "0: missed",
    broken: 1,
  },
  {
    name: "fails it if no run cost anything, so that no cap was tested",
    wrong: { mostOfCap: 0 },
    aim: "0: missed",
    broken: 1,
  },
])("budget $name", ({ wrong, aim, broken }) => {
  const figure = judgeBudget({ ...SPENT, ...wrong }, 7);
  expect(figure.lines.map((line) => line.aim)).toEqual([aim]);
  expect(figure.broken).toHaveLength(broken);
});

it.each([
  {
    name: "is met in time and under full load",
    p95Ms: [240, 249, 260],
    rates: [101, 104, 105],
    outcome: "met",
  },
  {
    name: "is missed if most runs are late",
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
])("fan-out $name", ({ p95Ms, rates, outcome }) => {
  const judged = judgeFanOut({ p95Ms: spread(p95Ms), eventsPerSecond: spread(rates) });
  expect(judged).toBe(`< 250 at ≥ 100 events/s: ${outcome}`);
});
