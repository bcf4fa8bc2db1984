import { describe, expect, it } from "vitest";
import { fencedBlocks, grade, numbersIn } from "../../src/evals/grade";
import { type Grader, GraderSchema } from "../../src/evals/schema";
import { cpuMs } from "../fakes/cpu-time";

const toGrader = (settings: object): Grader => GraderSchema.parse(settings);
const passes = (answer: string, settings: object) => grade(answer, toGrader(settings)).pass;

describe("the grader `exact`", () => {
  it.each([
    { name: "accepts the text itself", answer: "Canberra", value: "Canberra", pass: true },
    {
      name: "ignores white space around both texts",
      answer: "\n Canberra\t",
      value: " Canberra ",
      pass: true,
    },
    {
      name: "does not ignore white space inside",
      answer: "Can berra",
      value: "Canberra",
      pass: false,
    },
    { name: "is case-sensitive", answer: "canberra", value: "Canberra", pass: false },
    {
      name: "ignores the case on request",
      answer: "CANBERRA",
      value: "canberra",
      ignore_case: true,
      pass: true,
    },
    {
      name: "treats two encodings of an accent as equal",
      answer: "Cafe\u0301",
      value: "Caf\u00e9",
      pass: true,
    },
    { name: "refuses a longer text", answer: "Canberra.", value: "Canberra", pass: false },
    { name: "refuses an empty answer", answer: "", value: "x", pass: false },
    { name: "does not treat the text as a pattern", answer: "aaa", value: "a+", pass: false },
  ])("$name", ({ name: _, answer, pass, ...rest }) =>
    expect(passes(answer, { type: "exact", ...rest })).toBe(pass),
  );
});

describe("the grader `contains`", () => {
  it.each([
    {
      name: "requires all texts of `all`",
      answer: "red and blue",
      all: ["red", "blue"],
      pass: true,
    },
    {
      name: "fails if one text of `all` is missing",
      answer: "red",
      all: ["red", "blue"],
      pass: false,
    },
    { name: "passes with one text of `any`", answer: "blue", any: ["red", "blue"], pass: true },
    { name: "fails without any text of `any`", answer: "green", any: ["red", "blue"], pass: false },
    { name: "is case-sensitive", answer: "Red", any: ["red"], pass: false },
    {
      name: "ignores the case on request",
      answer: "RED",
      all: ["red"],
      ignore_case: true,
      pass: true,
    },
    { name: "fails for an empty answer", answer: "", any: ["red"], pass: false },
  ])("$name", ({ name: _, answer, pass, ...rest }) =>
    expect(passes(answer, { type: "contains", ...rest })).toBe(pass),
  );

  it("names the missing texts", () => {
    expect(grade("red", toGrader({ type: "contains", all: ["red", "blue"] })).detail).toBe(
      'does not contain "blue"',
    );
  });
});

describe("the numbers of a text", () => {
  it.each([
    { text: "It is 42.", numbers: [42] },
    { text: "1,234.5", numbers: [1234.5] },
    { text: "1,2,3", numbers: [1, 2, 3] },
    { text: "12345,678", numbers: [12345, 678] },
    { text: "1.234,5 is read in English notation", numbers: [1.234, 5] },
    { text: "12.5% of it", numbers: [12.5] },
    { text: "-3, −4, (-5), -$6 and $-7", numbers: [-3, -4, -5, -6, -7] },
    { text: "3-5 and gpt-4", numbers: [3, 5, 4] },
    { text: "agent2, H2O, v1.5.2", numbers: [] },
    { text: "**42** and _43_ and \\boxed{44}", numbers: [42, 43, 44] },
    { text: "6.02e23 and 1E-3", numbers: [6.02e23, 0.001] },
    { text: "1e999", numbers: [Number.POSITIVE_INFINITY] },
    { text: "NaN, Infinity, null, ∞", numbers: [] },
    { text: ".5 and 5.", numbers: [0.5, 5] },
    { text: "Well...42", numbers: [42] },
    { text: "007", numbers: [7] },
    { text: "42km in 3h", numbers: [42, 3] },
    { text: "", numbers: [] },
  ])("$text", ({ text, numbers }) => expect(numbersIn(text)).toEqual(numbers));
});

describe("the grader `number`", () => {
  it.each([
    { name: "reads the last number", answer: "6 times 7 is 42", value: 42, pass: true },
    {
      name: "reads the first number on request",
      answer: "42, for 6 times 7",
      value: 42,
      which: "first",
      pass: true,
    },
    {
      name: "does not read the first number by default",
      answer: "42, for 6 times 7",
      value: 42,
      pass: false,
    },
    { name: "is exact without a tolerance", answer: "42.0001", value: 42, pass: false },
    { name: "accepts an integer with a decimal point", answer: "42.000", value: 42, pass: true },
    {
      name: "accepts a number within an absolute tolerance, its limit included",
      answer: "1.1",
      value: 1,
      tolerance: { absolute: 0.1 },
      pass: true,
    },
    {
      name: "refuses a number beyond an absolute tolerance",
      answer: "1.11",
      value: 1,
      tolerance: { absolute: 0.1 },
      pass: false,
    },
    {
      name: "applies a relative tolerance to the expected number",
      answer: "101",
      value: 100,
      tolerance: { relative: 0.01 },
      pass: true,
    },
    {
      name: "applies a relative tolerance to a negative number",
      answer: "-99",
      value: -100,
      tolerance: { relative: 0.01 },
      pass: true,
    },
    {
      name: "applies the wider of two tolerances",
      answer: "102",
      value: 100,
      tolerance: { relative: 0.01, absolute: 3 },
      pass: true,
    },
    {
      name: "has no relative tolerance for zero",
      answer: "0.001",
      value: 0,
      tolerance: { relative: 1 },
      pass: false,
    },
    { name: "reads 12% as 12", answer: "12%", value: 0.12, pass: false },
    { name: "reads thousands", answer: "1,234.5", value: 1234.5, pass: true },
    { name: "refuses an answer without a number", answer: "NaN", value: 0, pass: false },
    {
      name: "refuses an infinite number with any tolerance",
      answer: "1e999",
      value: 1,
      tolerance: { absolute: 1e15 },
      pass: false,
    },
    { name: "compares the sign", answer: "-42", value: 42, pass: false },
    { name: "treats minus zero as zero", answer: "-0", value: 0, pass: true },
  ])("$name", ({ name: _, answer, pass, ...rest }) =>
    expect(passes(answer, { type: "number", ...rest })).toBe(pass),
  );

  it("names the found and the expected number", () => {
    const grader = toGrader({ type: "number", value: 42, tolerance: { absolute: 1 } });
    expect(grade("It is 40", grader).detail).toBe("its last number is 40, not 42 ± 1");
  });
});

describe("the grader `json`", () => {
  const water = { H: 2, O: 1 };
  const fenced = (text: string, fence = "```json") =>
    `Here:\n${fence}\n${text}\n${/^(`+|~+)/.exec(fence)?.[0]}\nDone.`;
  it.each([
    { name: "accepts bare JSON", answer: ' {"O": 1, "H": 2}\n', value: water, pass: true },
    { name: "accepts a fenced block", answer: fenced('{"H":2,"O":1}'), value: water, pass: true },
    {
      name: "accepts a block without language, and tildes",
      answer: fenced('{"H":2,"O":1}', "~~~"),
      value: water,
      pass: true,
    },
    {
      name: "accepts an unclosed block",
      answer: '```json\n{"H":2,"O":1}',
      value: water,
      pass: true,
    },
    {
      name: "reads the last block that is JSON",
      answer: `${fenced('{"H":1}')}\n${fenced('{"H":2,"O":1}')}\n${fenced("x = 1", "```py")}`,
      value: water,
      pass: true,
    },
    {
      name: "does not read an earlier block",
      answer: `${fenced('{"H":2,"O":1}')}\n${fenced('{"H":1}')}`,
      value: water,
      pass: false,
    },
    {
      name: "ignores a block inside another block",
      answer: fenced(fenced('{"H":2,"O":1}'), "````markdown"),
      value: water,
      pass: false,
    },
    {
      name: "accepts a block with a longer fence",
      answer: fenced('{"H":2,"O":1}', "````json"),
      value: water,
      pass: true,
    },
    {
      name: "does not search for JSON inside a sentence",
      answer: 'It is {"H":2,"O":1}.',
      value: water,
      pass: false,
    },
    { name: "refuses an additional key", answer: '{"H":2,"O":1,"C":0}', value: water, pass: false },
    { name: "refuses a missing key", answer: '{"H":2}', value: water, pass: false },
    {
      name: "uses the last of two equal keys",
      answer: '{"H":9,"O":1,"H":2}',
      value: water,
      pass: true,
    },
    { name: "compares the order of a list", answer: "[2,1]", value: [1, 2], pass: false },
    { name: "compares the length of a list", answer: "[1,2,3]", value: [1, 2], pass: false },
    { name: "distinguishes a list from an object", answer: '{"0":1}', value: [1], pass: false },
    { name: "distinguishes a number from its text", answer: '"1"', value: 1, pass: false },
    { name: "treats 1.0 as 1", answer: "1.0", value: 1, pass: true },
    { name: "accepts null as a value", answer: "null", value: null, pass: true },
    {
      name: "refuses a key with null if the key is not expected",
      answer: '{"a":null}',
      value: {},
      pass: false,
    },
    {
      name: "treats `__proto__` as a key like any other",
      answer: '{"__proto__":{"a":1}}',
      value: { a: 1 },
      pass: false,
    },
    { name: "refuses a number beyond JSON's range", answer: "1e999", value: 1e15, pass: false },
    { name: "refuses broken JSON", answer: '{"H":2,', value: water, pass: false },
    { name: "refuses an empty answer", answer: "", value: "", pass: false },
  ])("$name", ({ answer, value, pass }) =>
    expect(passes(answer, { type: "json", value })).toBe(pass),
  );

  it("names the JSON pointer of the first difference", () => {
    expect(
      grade('{"a":{"b/c":[1,2]}}', toGrader({ type: "json", value: { a: { "b/c": [1, 3] } } }))
        .detail,
    ).toBe("its JSON differs at /a/b~1c/1");
  });

  it("closes a block only with a line of the same fence characters and nothing else", () => {
    expect(fencedBlocks("```json\n1\n~~~\n``` x\n```\ntext\n~~~\n2\n~~~")).toEqual([
      "1\n~~~\n``` x",
      "2",
    ]);
  });
});

describe("a long answer of one kind of characters", () => {
  const long = 256 * 1024;
  const graders = [
    { type: "exact", value: "x" },
    { type: "contains", any: ["x".repeat(100)] },
    { type: "number", value: 1 },
    { type: "json", value: { a: [1] } },
  ].map(toGrader);

  it.each([
    { name: "digits", answer: "1".repeat(long) },
    { name: "groups of digits", answer: "1,111".repeat(long / 5) },
    { name: "minus signs", answer: "-".repeat(long) },
    { name: "points", answer: ".".repeat(long) },
    { name: "digits and points", answer: "1.".repeat(long / 2) },
    { name: "brackets", answer: "[".repeat(long) },
    { name: "nested lists", answer: "[".repeat(long / 2) + "]".repeat(long / 2) },
    { name: "fences", answer: "```\n".repeat(long / 4) },
    { name: "back ticks", answer: "`".repeat(long) },
    { name: "lone surrogates", answer: "\ud800".repeat(long) },
  ])("is graded quickly and fails: $name", ({ answer }) => {
    const startMs = cpuMs();
    for (const grader of graders) expect(grade(answer, grader).pass).toBe(false);
    expect(cpuMs() - startMs).toBeLessThan(2_000);
  });
});
