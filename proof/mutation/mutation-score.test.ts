import { describe, expect, it } from "vitest";
import { type Fate, type Judged, scoreOf, tableOf, tell } from "./report";

const judged = (fate: Fate, file = "src/coordination/decision/vote.ts"): Judged => ({
  fate,
  by: fate === "killed" ? "vote > may be for oneself" : null,
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
const many = (count: number, fate: Fate): Judged[] =>
  Array.from({ length: count }, () => judged(fate));

describe("the mutation score", () => {
  it.each<{ name: string; of: Judged[]; percent: number }>([
    {
      name: "is what was noticed of all",
      of: [...many(3, "killed"), ...many(1, "survived")],
      percent: 75,
    },
    {
      name: "counts what never ended as noticed",
      of: [...many(1, "endless"), ...many(1, "survived")],
      percent: 50,
    },
    {
      name: "counts what no test comes by as unnoticed",
      of: [...many(1, "killed"), ...many(3, "uncovered")],
      percent: 25,
    },
    {
      name: "leaves out what nobody could notice",
      of: [...many(1, "killed"), ...many(9, "equivalent")],
      percent: 100,
    },
    { name: "is full where nobody could notice any", of: many(2, "equivalent"), percent: 100 },
  ])("$name", ({ of, percent }) => {
    expect(scoreOf(of).percent).toBe(percent);
  });

  it("of nothing is none", () => {
    expect(() => scoreOf([])).toThrow("No mutant was tried, so there is no score.");
  });

  it("of a sample tells between what the score of all is, as Wilson's interval does", () => {
    const { from, to } = scoreOf([...many(90, "killed"), ...many(10, "survived")]);
    expect([from.toFixed(1), to.toFixed(1)]).toEqual(["82.6", "94.5"]);
  });
});

it("the table has a line for each file, the worst last", () => {
  const lines = tableOf([
    judged("killed", "a.ts"),
    judged("survived", "b.ts"),
    judged("killed", "b.ts"),
  ]).split("\n");
  expect(lines.map((line) => line.split(/\s+/).join(" "))).toEqual([
    "file mutants killed endless survived uncovered equivalent score",
    "a.ts 1 1 0 0 0 0 100.0 %",
    "b.ts 2 1 0 1 0 0 50.0 %",
  ]);
});

it("a mutant is told with its place, what noticed it, and the change", () => {
  expect(tell(judged("killed"))).toBe(
    "src/coordination/decision/vote.ts:12:3 killed by vote > may be for oneself\n  - a < b\n  + a <= b",
  );
});
