import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  ACCEPTANCE_ROWS,
  acceptanceProblems,
  type PassedTest,
  EXCUSED_ROWS,
  rowOf,
  REQUIRED_FILES,
} from "./acceptance";

it.each([
  {
    name: "in the test's name",
    titles: ["refused:", "A9 no id: 400"],
    row: { row: "A9", input: "no id: 400" },
  },
  {
    name: "at the beginning of the group's name",
    titles: ["C5 secrets are text", "here"],
    row: { row: "C5", input: "secrets are text here" },
  },
  {
    name: "as the whole name of the group",
    titles: ["D6", "a redirect"],
    row: { row: "D6", input: "a redirect" },
  },
  { name: "nowhere", titles: ["a key", "opens the service after 5 s"], row: null },
  {
    name: "only at the beginning of a name",
    titles: ["Claude A9 is no row", "B64 is"],
    row: { row: "B64", input: "is" },
  },
])("a row of a test is found $name", ({ titles, row }) => {
  expect(rowOf(titles)).toEqual(row);
});

const ALL_PASSED = ACCEPTANCE_ROWS.filter((row) => !(row in EXCUSED_ROWS)).flatMap(
  (row): PassedTest[] =>
    (REQUIRED_FILES[row] ?? ["tests/a.test.ts"]).map((file) => ({
      file,
      titles: [`${row} something`],
    })),
);

it("reports nothing if each row has a test, or an excuse", () => {
  expect(acceptanceProblems(ALL_PASSED)).toEqual([]);
  expect(Object.keys(EXCUSED_ROWS).filter((row) => !ACCEPTANCE_ROWS.includes(row))).toEqual([]);
});

it("reports rows without a test, and excused rows with a test", () => {
  const webhook = { file: "tests/a.test.ts", titles: ["B20 a private webhook"] };
  expect(acceptanceProblems([...ALL_PASSED.slice(1), webhook])).toEqual([
    "row A1 of the bad inputs has no test that passed",
    "row B20 of the bad inputs is excused, and has a test",
  ]);
});

it("reports a row without a test in one of its required files", () => {
  const guessing = "proof/timing/guessing.proof.test.ts";
  expect(acceptanceProblems(ALL_PASSED.filter(({ file }) => file !== guessing))).toEqual([
    `row A3 of the bad inputs has no test that passed in ${guessing}`,
  ]);
});

it.each(Object.entries(REQUIRED_FILES))(
  "row %s with required files is in the list, and the files exist",
  (row, files) => {
    expect(ACCEPTANCE_ROWS).toContain(row);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  },
);

it("the page of bad inputs has a line for each row, in order", () => {
  const page = readFileSync("docs/proof/acceptance.md", "utf8");
  const listed = [...page.matchAll(/^\| ([A-F]\d+) \|/gm)].map(([, row]) => row);
  expect(listed).toEqual(ACCEPTANCE_ROWS);
});
