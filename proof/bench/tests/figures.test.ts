import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type BudgetFigure, judgeBudget } from "../budget";
import { judgeFanOut } from "../fan-out";
import { takeFit } from "../fit-runs";
import { MEASUREMENTS } from "../measurements";
import { times } from "../figure";
import { judgeResume, type ResumeFigure } from "../resume";
import { judgeGrowth } from "../slope";
import { spread } from "../arithmetic";

describe("the figures of the benchmark", () => {
  const names = MEASUREMENTS.map(({ name }) => name);

  it("each have a name of their own, as --only takes it, and say what they do", () => {
    expect(new Set(names).size).toBe(names.length);
    for (const { name, about } of MEASUREMENTS) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(about).not.toBe("");
    }
  });

  it("are those that the documents name", () => {
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

it("a figure is the middle of five runs at least, and in the least size of one", () => {
  expect([times(5, { isSmall: false }), times(7, { isSmall: true })]).toEqual([5, 1]);
  expect(() => times(4, { isSmall: true })).toThrow("5 runs at least");
});

describe("of runs that a figure cannot use", () => {
  /** Runs by number, from 1 on; null where one is not fit. */
  const taking = (isFit: (run: number) => boolean) => {
    let run = 0;
    return async () => (isFit(++run) ? run : null);
  };
  const WANTED = { wanted: 5, fewest: 3, most: 12 };

  it.each([
    {
      name: "none is set aside where all are fit",
      isFit: () => true,
      fit: [1, 2, 3, 4, 5],
      setAside: 0,
    },
    {
      name: "each is set aside, and another taken",
      isFit: (run: number) => run !== 1 && run !== 4,
      fit: [2, 3, 5, 6, 7],
      setAside: 2,
    },
    {
      name: "so many are tried and no more",
      isFit: (run: number) => run % 3 === 0,
      fit: [3, 6, 9, 12],
      setAside: 8,
    },
  ])("$name", async ({ isFit, fit, setAside }) => {
    expect(await takeFit(taking(isFit), WANTED)).toEqual({ fit, setAside });
  });

  it("too many leave no figure", async () => {
    const few = takeFit(
      taking((run) => run % 5 === 0),
      WANTED,
    );
    await expect(few).rejects.toThrow(
      "Of 12 runs 2 were as this figure needs them, and it takes 3.",
    );
  });
});

it.each([
  {
    name: "is met by what strays about nothing",
    differences: [-2.8, -1.5, -2, 2, 1],
    bare: [-0.6, 0.8],
    said: "met",
  },
  {
    name: "is missed by four of five sessions that grow by 1 ms a round",
    differences: [1_000, 1_000, 1_000, 1_000, -1],
    bare: [-0.6, 0.8],
    said: "missed",
  },
  {
    name: "is missed by all five that grow a little",
    differences: [0.5, 1, 0.2, 2, 1],
    bare: [-0.6, 0.8],
    said: "missed",
  },
  {
    name: "is met by what strays no more than a busy machine makes it",
    differences: [70, 90, -40, 240, -9],
    bare: [-197, 89],
    said: "met",
  },
  {
    name: "is missed there, too, by much more",
    differences: [900, 990, -40, 940, -9],
    bare: [-197, 89],
    said: "missed",
  },
])("growth $name", ({ differences, bare, said }) => {
  expect(judgeGrowth({ differences, bare })).toMatch(new RegExp(`: ${said}$`));
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
  { name: "is met when every reader got every frame once", wrong: {}, aim: "0: met", broken: 0 },
  {
    name: "fails the benchmark for one frame lost",
    wrong: { lost: 1 },
    aim: "0: missed",
    broken: 1,
  },
  { name: "fails it for one frame doubled", wrong: { doubled: 1 }, aim: "0: missed", broken: 1 },
  {
    name: "fails it for one reader with other bytes",
    wrong: { differing: 1 },
    aim: "0: missed",
    broken: 1,
  },
  {
    name: "fails it where no reader got a frame, so that none could be lost",
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

it("budget says how near to their caps the runs came: where none comes near, none can show a reservation too small", () => {
  const [line] = judgeBudget(SPENT, 7).lines;
  expect(line?.measured).toBe("0; at most 99.51 % of a cap was used, and over 95 % by 8");
});

it.each([
  { name: "is met when no run cost more than its cap", wrong: {}, aim: "0: met", broken: 0 },
  {
    name: "fails the benchmark for one that did",
    wrong: { overshot: 1 },
    aim: "0: missed",
    broken: 1,
  },
  {
    name: "fails it where no run cost anything, so that no cap was tried",
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
    said: "met",
  },
  {
    name: "is missed when most runs are late",
    p95Ms: [240, 250, 260],
    rates: [101, 104, 105],
    said: "missed",
  },
  {
    name: "is missed when one run was fed less than the aim asks for",
    p95Ms: [140, 150, 160],
    rates: [99.9, 104, 105],
    said: "missed",
  },
])("fan-out $name", ({ p95Ms, rates, said }) => {
  const judged = judgeFanOut({ p95Ms: spread(p95Ms), eventsPerSecond: spread(rates) });
  expect(judged).toBe(`< 250 at ≥ 100 events/s: ${said}`);
});
