import { describe, expect, it } from "vitest";
import { excerpt } from "../../../cli/service/problem";

describe("the line of an error in a config", () => {
  it.each([
    {
      name: "is shown with its number and a caret",
      text: "a: 1\nb: opnai\n",
      place: { line: 2, column: 4 },
      lines: ["    2 | b: opnai", "      |    ^"],
    },
    {
      name: "has no caret without a column",
      text: "a: 1",
      place: { line: 1, column: null },
      lines: ["    1 | a: 1"],
    },
    {
      name: "is found in a file with Windows line ends",
      text: "a: 1\r\nb: 2\r\n",
      place: { line: 2, column: 1 },
      lines: ["    2 | b: 2", "      | ^"],
    },
    {
      name: "is omitted if the file has no such line",
      text: "a: 1",
      place: { line: 9, column: 1 },
      lines: [],
    },
    {
      name: "has its caret at the right column after wide characters",
      text: "名前: x",
      place: { line: 1, column: 5 },
      lines: ["    1 | 名前: x", "      |       ^"],
    },
    {
      name: "has its caret at the right column after a tab",
      text: "a:\tx",
      place: { line: 1, column: 4 },
      lines: ["    1 | a:  x", "      |     ^"],
    },
    {
      name: "has its caret at the end of the line if the column is larger",
      text: "ab",
      place: { line: 1, column: 99 },
      lines: ["    1 | ab", "      |   ^"],
    },
    {
      name: "is shown without control sequences",
      text: "a: \x1b[2Jx",
      place: { line: 1, column: 1 },
      lines: ["    1 | a: x", "      | ^"],
    },
    {
      name: "has asterisks for a key, one for each character",
      text: 'b: {api_key: "sk-abc", type: x}',
      place: { line: 1, column: 24 },
      lines: ["    1 | b: {api_key: ********, type: x}", "      |                        ^"],
    },
    {
      name: "keeps the name of a variable",
      text: "api_key: ${MY_KEY}",
      place: { line: 1, column: 1 },
      lines: ["    1 | api_key: ${MY_KEY}", "      | ^"],
    },
    {
      name: "has asterisks for the token of a header",
      text: "Authorization: Bearer abc # x",
      place: { line: 1 },
      lines: ["    1 | Authorization: ****** *** # x"],
    },
    {
      name: "has asterisks for text that looks like a key",
      text: "- sk-ant-0123456789",
      place: { line: 1 },
      lines: ["    1 | - *****************"],
    },
  ])("$name", ({ text, place, lines }) => {
    expect(excerpt(text, place)).toEqual(lines);
  });

  it("is cut around the column if it is long", () => {
    const [line = "", caret = ""] = excerpt(`${"x".repeat(300)}HERE${"y".repeat(300)}`, {
      line: 1,
      column: 301,
    });
    expect([line.length < 120, line[caret.indexOf("^")]]).toEqual([true, "H"]);
  });
});
