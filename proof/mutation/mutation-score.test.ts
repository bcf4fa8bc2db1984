import { describe, expect, it } from "vitest";
import { type Outcome, describeResult, type MutantResult, scoreOf, tableOf } from "./report";

const resultOf = (outcome: Outcome, file = "src/coordination/decision/vote.ts"): MutantResult => ({
  outcome,
  by: outcome === "killed" ? "vote > may be for oneself" : null,
  mutant: {
    id: "7",
    file,
    line: 12,
    column: 3,
    text: "if (a < b) return;",
    original: "a < b",
    replacement: "a <= b",
  },
});
const resultsOf = (count: number, outcome: Outcome): MutantResult[] =>
  Array.from({ length: count }, () => resultOf(outcome));

describe("the mutation score", () => {
  it.each<{ name: string; of: MutantResult[]; percent: number }>([
    {
      name: "is the share of mutants that a check noticed",
      of: [...resultsOf(3, "killed"), ...resultsOf(1, "survived")],
      percent: 75,
    },
    {
      name: "counts endless mutants as noticed",
      of: [...resultsOf(1, "endless"), ...resultsOf(1, "survived")],
      percent: 50,
    },
    {
      name: "counts uncovered mutants as not noticed",
      of: [...resultsOf(1, "killed"), ...resultsOf(3, "uncovered")],
      percent: 25,
    },
    {
      name: "excludes equivalent mutants",
      of: [...resultsOf(1, "killed"), ...resultsOf(9, "equivalent")],
      percent: 100,
    },
    { name: "is 100 if all mutants are equivalent", of: resultsOf(2, "equivalent"), percent: 100 },
  ])("$name", ({ of, percent }) => {
    expect(scoreOf(of).percent).toBe(percent);
  });

  it("cannot be computed without mutants", () => {
    expect(() => scoreOf([])).toThrow("No mutant was tried, so there is no score.");
  });

  it("has Wilson's confidence interval, for the score of all mutants if only a sample was tried", () => {
    const { from, to } = scoreOf([...resultsOf(90, "killed"), ...resultsOf(10, "survived")]);
    expect([from.toFixed(1), to.toFixed(1)]).toEqual(["82.6", "94.5"]);
  });
});

it("the table has one line per file; the file with the lowest score is last", () => {
  const lines = tableOf([
    resultOf("killed", "a.ts"),
    resultOf("survived", "b.ts"),
    resultOf("killed", "b.ts"),
  ]).split("\n");
  expect(lines.map((line) => line.split(/\s+/).join(" "))).toEqual([
    "file mutants killed endless survived uncovered equivalent score",
    "a.ts 1 1 0 0 0 0 100.0 %",
    "b.ts 2 1 0 1 0 0 50.0 %",
  ]);
});

it("prints a mutant with its place, the check that noticed the mutant, and the change", () => {
  expect(describeResult(resultOf("killed"))).toBe(
    "src/coordination/decision/vote.ts:12:3 killed by vote > may be for oneself\n  - a < b\n  + a <= b",
  );
});
