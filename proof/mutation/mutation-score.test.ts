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
const many = (count: number, outcome: Outcome): MutantResult[] =>
  Array.from({ length: count }, () => resultOf(outcome));

describe("the mutation score", () => {
  it.each<{ name: string; of: MutantResult[]; percent: number }>([
    {
      name: "is the noticed share of all mutants",
      of: [...many(3, "killed"), ...many(1, "survived")],
      percent: 75,
    },
    {
      name: "counts endless mutants as noticed",
      of: [...many(1, "endless"), ...many(1, "survived")],
      percent: 50,
    },
    {
      name: "counts uncovered mutants as not noticed",
      of: [...many(1, "killed"), ...many(3, "uncovered")],
      percent: 25,
    },
    {
      name: "excludes equivalent mutants",
      of: [...many(1, "killed"), ...many(9, "equivalent")],
      percent: 100,
    },
    { name: "is full if all mutants are equivalent", of: many(2, "equivalent"), percent: 100 },
  ])("$name", ({ of, percent }) => {
    expect(scoreOf(of).percent).toBe(percent);
  });

  it("is undefined without mutants", () => {
    expect(() => scoreOf([])).toThrow("No mutant was tried, so there is no score.");
  });

  it("of a sample has Wilson's interval for the score of all mutants", () => {
    const { from, to } = scoreOf([...many(90, "killed"), ...many(10, "survived")]);
    expect([from.toFixed(1), to.toFixed(1)]).toEqual(["82.6", "94.5"]);
  });
});

it("the table has one line per file, the worst last", () => {
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

it("a mutant is printed with its place, the check that noticed it, and the change", () => {
  expect(describeResult(resultOf("killed"))).toBe(
    "src/coordination/decision/vote.ts:12:3 killed by vote > may be for oneself\n  - a < b\n  + a <= b",
  );
});
