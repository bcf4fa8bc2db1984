import { describe, expect, it } from "vitest";
import {
  commentsOf,
  paragraphsOf,
  participlesOf,
  sentenceStringsOf,
  testNamesOf,
  wideCommentsOf,
} from "./diction-texts";
import { parseSource } from "./source";

const source = (text: string) => parseSource("src/a.ts", text);
const at = (line: number, text: string) => ({ path: "src/a.ts", line, text });

describe("comments", () => {
  it.each([
    ["a docstring of several lines", "/**\n * One\n * two.\n */\nlet a;", [at(1, "One\ntwo.")]],
    [
      "line comments on neighbouring lines",
      "let a;\n// one\n// two\nlet b; // three",
      [at(2, "one\ntwo"), at(4, "three")],
    ],
    ["code, which counts as one word", "// calls `heard(x)` once", [at(1, "calls code once")]],
    ["directives, which are omitted", "// biome-ignore lint: why\nlet a;", []],
    ["strings, which are omitted", 'const a = "// no comment";', []],
  ])("are read: %s", (_, text, expected) => {
    expect(commentsOf(source(text))).toEqual(expected);
  });

  it("are found if they are wider than the limit; code is ignored", () => {
    const wide = `// ${"a".repeat(20)}`;
    expect(wideCommentsOf(source(`${wide}\nconst aLongNameWithoutAComment = 1;\n`), 20)).toEqual([
      at(1, wide),
    ]);
  });
});

describe("strings", () => {
  it.each([
    ["a sentence", '"The key is not valid."', ["The key is not valid."]],
    ["a template", "`The key ${key} is not ${state}.`", ["The key … is not …."]],
    ["a name", '"session_not_found"', []],
    ["only three words", '"not found here"', []],
    ["SQL", '"SELECT id AS stands FROM rows WHERE id = 1"', []],
    ["a path", '"a-b-c-d/e_f"', []],
  ])("are read only if they are sentences: %s", (_, text, expected) => {
    const found = sentenceStringsOf(source(`let state, key; const a = ${text};`));
    expect(found.map((passage) => passage.text)).toEqual(expected);
  });
});

it("reads the names of tests and groups, and ignores other calls", () => {
  const text =
    'describe("one", () => {\n  it.each([1])("two %s", f);\n  it(`three ${a}`, f);\n  item("no");\n});';
  expect(testNamesOf(source(text))).toEqual([at(1, "one"), at(2, "two %s"), at(3, "three …")]);
});

it("finds types that are named by a participle, and ignores other names", () => {
  const text = "type Asked = 1;\ninterface Held {}\nclass Kept {}\ntype Seed = 2;\nconst Told = 3;";
  expect(participlesOf(source(text))).toEqual([at(1, "Asked"), at(2, "Held"), at(3, "Kept")]);
});

it.each([
  ["paragraphs of several lines", "One\ntwo.\n\nThree.", ["One\ntwo.", "Three."]],
  [
    "headings and lists",
    "# Head\n- one\n  more\n- two\n1. three",
    ["Head", "one\nmore", "two", "three"],
  ],
  ["a table", "| A b | C |\n|---|---|\n| d | e f |", ["A b", "C", "d", "e f"]],
  [
    "comments, which are omitted",
    "<!-- mark -->\nOne <!-- figure: a -->2<!-- /figure --> of",
    ["One 2 of"],
  ],
  ["blocks of code, which are omitted", "One\n```sh\nnpm run it\n```\nTwo", ["One", "Two"]],
  [
    "code and links inside a line",
    "Run `npm run it` as [told there](x.md) **now**.",
    ["Run code as told there now."],
  ],
])("divides a document into paragraphs: %s", (_, markdown, expected) => {
  expect(paragraphsOf("src/a.ts", markdown).map(({ text }) => text)).toEqual(expected);
});
