import { describe, expect, it } from "vitest";
import { helpTextProblems } from "./help-texts";
import { parseSource } from "./source";

const problemsIn = (text: string) => helpTextProblems([parseSource("scripts/a.ts", text)]);
const wide = "a".repeat(81);

describe("the check of help texts", () => {
  it("finds a line that is too wide", () => {
    expect(
      problemsIn(`const x = 1;\nexport const START_USAGE = \`npm start\n\n${wide}\`;`),
    ).toEqual([
      { path: "scripts/a.ts", line: 4, message: "has a help text of 81 columns; limit is 80" },
    ]);
  });

  it("finds a line that is too wide in a plain string", () => {
    expect(problemsIn(`const USAGE = "${wide}";`)).toHaveLength(1);
  });

  it.each([
    {
      name: "a text of 80 columns",
      source: `const USAGE = \`${wide.slice(1)}\n${wide.slice(1)}\`;`,
    },
    {
      name: "80 characters that are escaped in the source",
      source: `const USAGE = \`${"\\`".repeat(80)}\`;`,
    },
    { name: "a constant with another name", source: `const TITLE = "${wide}";` },
    { name: "a constant that is no text", source: `const USAGE = { total: "${wide}" };` },
  ])("accepts $name", ({ source }) => {
    expect(problemsIn(source)).toEqual([]);
  });

  it("counts an inserted value with the length of its expression", () => {
    const most = "a".repeat(76);
    expect(problemsIn(`const USAGE = \`${most}\${FILE}\`;`)).toEqual([]);
    expect(problemsIn(`const USAGE = \`${most}\${FILES}\`;`)).toHaveLength(1);
  });
});
