import { expect, it } from "vitest";
import { ACCEPTANCE_ROWS, acceptanceProblems, NOT_REACHED, rowOf } from "../../../scripts/checks/acceptance";

it.each([
  { name: "its own name", titles: ["refused:", "A9 no id: 400"], row: { row: "A9", input: "no id: 400" } },
  { name: "the group around it", titles: ["C5 secrets are text", "here"], row: { row: "C5", input: "secrets are text here" } },
  { name: "the group alone", titles: ["D6", "a redirect"], row: { row: "D6", input: "a redirect" } },
  { name: "no name", titles: ["a key", "opens the service after 5 s"], row: null },
  { name: "a word that looks alike", titles: ["Claude A9 is no row", "B64 is"], row: { row: "B64", input: "is" } },
])("a test is of a row by $name", ({ titles, row }) => {
  expect(rowOf(titles)).toEqual(row);
});

const ALL = ACCEPTANCE_ROWS.filter((row) => !(row in NOT_REACHED)).map((row) => [`${row} something`]);

it("is content when each row has a test, or a reason to have none", () => {
  expect(acceptanceProblems(ALL)).toEqual([]);
  expect(Object.keys(NOT_REACHED).filter((row) => !ACCEPTANCE_ROWS.includes(row))).toEqual([]);
});

it("names rows without a test, and excuses that are out of date", () => {
  expect(acceptanceProblems([...ALL.slice(1), ["B20 a private webhook"]])).toEqual([
    "row A1 of the bad inputs has no test that passed",
    "row B20 of the bad inputs is excused, and has a test",
  ]);
});
