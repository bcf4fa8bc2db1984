import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  ACCEPTANCE_ROWS,
  acceptanceProblems,
  type PassedTest,
  NOT_REACHED,
  rowOf,
  SHOWN_IN,
} from "./acceptance";

it.each([
  {
    name: "its own name",
    titles: ["refused:", "A9 no id: 400"],
    row: { row: "A9", input: "no id: 400" },
  },
  {
    name: "the group around it",
    titles: ["C5 secrets are text", "here"],
    row: { row: "C5", input: "secrets are text here" },
  },
  {
    name: "the group alone",
    titles: ["D6", "a redirect"],
    row: { row: "D6", input: "a redirect" },
  },
  { name: "no name", titles: ["a key", "opens the service after 5 s"], row: null },
  {
    name: "a word that looks alike",
    titles: ["Claude A9 is no row", "B64 is"],
    row: { row: "B64", input: "is" },
  },
])("a test covers a row by $name", ({ titles, row }) => {
  expect(rowOf(titles)).toEqual(row);
});

const ALL = ACCEPTANCE_ROWS.filter((row) => !(row in NOT_REACHED)).flatMap((row): PassedTest[] =>
  (SHOWN_IN[row] ?? ["tests/a.test.ts"]).map((file) => ({ file, titles: [`${row} something`] })),
);

it("passes when each row has a test, or a reason to have none", () => {
  expect(acceptanceProblems(ALL)).toEqual([]);
  expect(Object.keys(NOT_REACHED).filter((row) => !ACCEPTANCE_ROWS.includes(row))).toEqual([]);
});

it("names rows without a test, and outdated reasons", () => {
  const webhook = { file: "tests/a.test.ts", titles: ["B20 a private webhook"] };
  expect(acceptanceProblems([...ALL.slice(1), webhook])).toEqual([
    "row A1 of the bad inputs has no test that passed",
    "row B20 of the bad inputs is excused, and has a test",
  ]);
});

it("requires each file that must cover a row", () => {
  const guessing = "proof/timing/guessing.proof.test.ts";
  expect(acceptanceProblems(ALL.filter(({ file }) => file !== guessing))).toEqual([
    `row A3 of the bad inputs has no test that passed in ${guessing}`,
  ]);
});

it.each(Object.entries(SHOWN_IN))("row %s is in the list, and its files exist", (row, files) => {
  expect(ACCEPTANCE_ROWS).toContain(row);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

it("the page of bad inputs has a line for each row, in order", () => {
  const page = readFileSync("docs/proof/acceptance.md", "utf8");
  const listed = [...page.matchAll(/^\| ([A-F]\d+) \|/gm)].map(([, row]) => row);
  expect(listed).toEqual(ACCEPTANCE_ROWS);
});
