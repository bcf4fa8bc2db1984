import { describe, expect, it } from "vitest";
import { fencedBlocks, grade, numbersIn } from "../../src/evals/grade";
import { type Grader, GraderSchema } from "../../src/evals/schema";
import { cpuMs } from "../fakes/cpu-time";

const toGrader = (written: object): Grader => GraderSchema.parse(written);
const passes = (answer: string, written: object) => grade(answer, toGrader(written)).pass;

describe("exact", () => {
  it.each([
    { name: "takes the text itself", answer: "Canberra", value: "Canberra", pass: true },
    {
      name: "ignores white space around both",
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
    { name: "minds the case", answer: "canberra", value: "Canberra", pass: false },
    {
      name: "ignores the case where told",
      answer: "CANBERRA",
      value: "canberra",
      ignore_case: true,
      pass: true,
    },
    {
      name: "takes one accent written in two ways",
      answer: "Cafe\u0301",
      value: "Caf\u00e9",
      pass: true,
    },
    { name: "takes no more than the text", answer: "Canberra.", value: "Canberra", pass: false },
    { name: "refuses an empty answer", answer: "", value: "x", pass: false },
    { name: "reads no pattern into the text", answer: "aaa", value: "a+", pass: false },
  ])("$name", ({ name: _, answer, pass, ...rest }) =>
    expect(passes(answer, { type: "exact", ...rest })).toBe(pass),
  );
});

describe("contains", () => {
  it.each([
    { name: "wants all of several", answer: "red and blue", all: ["red", "blue"], pass: true },
    { name: "misses one of all", answer: "red", all: ["red", "blue"], pass: false },
    { name: "is content with one of any", answer: "blue", any: ["red", "blue"], pass: true },
    { name: "finds none of any", answer: "green", any: ["red", "blue"], pass: false },
    { name: "minds the case", answer: "Red", any: ["red"], pass: false },
    {
      name: "ignores the case where told",
      answer: "RED",
      all: ["red"],
      ignore_case: true,
      pass: true,
    },
    { name: "finds nothing in an empty answer", answer: "", any: ["red"], pass: false },
  ])("$name", ({ name: _, answer, pass, ...rest }) =>
    expect(passes(answer, { type: "contains", ...rest })).toBe(pass),
  );

  it("names what is missing", () => {
    expect(grade("red", toGrader({ type: "contains", all: ["red", "blue"] })).detail).toBe(
      'lacks "blue"',
    );
  });
});

describe("the numbers of a text", () => {
  it.each([
    { text: "It is 42.", numbers: [42] },
    { text: "1,234.5", numbers: [1234.5] },
    { text: "1,2,3", numbers: [1, 2, 3] },
    { text: "12345,678", numbers: [12345, 678] },
    { text: "1.234,5 is read as English writes it", numbers: [1.234, 5] },
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

describe("number", () => {
  it.each([
    { name: "takes the last number", answer: "6 times 7 is 42", value: 42, pass: true },
    {
      name: "takes the first where told",
      answer: "42, for 6 times 7",
      value: 42,
      which: "first",
      pass: true,
    },
    { name: "takes no other", answer: "42, for 6 times 7", value: 42, pass: false },
    { name: "is exact without a tolerance", answer: "42.0001", value: 42, pass: false },
    { name: "takes an integer written with a point", answer: "42.000", value: 42, pass: true },
    {
      name: "takes what is within an absolute tolerance, its edge too",
      answer: "1.1",
      value: 1,
      tolerance: { absolute: 0.1 },
      pass: true,
    },
    {
      name: "refuses what is beyond it",
      answer: "1.11",
      value: 1,
      tolerance: { absolute: 0.1 },
      pass: false,
    },
    {
      name: "measures a relative tolerance by what is expected",
      answer: "101",
      value: 100,
      tolerance: { relative: 0.01 },
      pass: true,
    },
    {
      name: "and so below zero",
      answer: "-99",
      value: -100,
      tolerance: { relative: 0.01 },
      pass: true,
    },
    {
      name: "takes the wider of two",
      answer: "102",
      value: 100,
      tolerance: { relative: 0.01, absolute: 3 },
      pass: true,
    },
    {
      name: "gives zero no relative tolerance",
      answer: "0.001",
      value: 0,
      tolerance: { relative: 1 },
      pass: false,
    },
    { name: "reads a percentage as its number", answer: "12%", value: 0.12, pass: false },
    { name: "reads thousands", answer: "1,234.5", value: 1234.5, pass: true },
    { name: "refuses an answer without number", answer: "NaN", value: 0, pass: false },
    {
      name: "refuses a number too large, however wide the tolerance",
      answer: "1e999",
      value: 1,
      tolerance: { absolute: 1e15 },
      pass: false,
    },
    { name: "minds the sign", answer: "-42", value: 42, pass: false },
    { name: "takes minus zero as zero", answer: "-0", value: 0, pass: true },
  ])("$name", ({ name: _, answer, pass, ...rest }) =>
    expect(passes(answer, { type: "number", ...rest })).toBe(pass),
  );

  it("says what it found and what it wanted", () => {
    const grader = toGrader({ type: "number", value: 42, tolerance: { absolute: 1 } });
    expect(grade("It is 40", grader).detail).toBe("its last number is 40, not 42 ± 1");
  });
});

describe("json", () => {
  const water = { H: 2, O: 1 };
  const fenced = (text: string, fence = "```json") =>
    `Here:\n${fence}\n${text}\n${/^(`+|~+)/.exec(fence)?.[0]}\nDone.`;
  it.each([
    { name: "takes bare JSON", answer: ' {"O": 1, "H": 2}\n', value: water, pass: true },
    { name: "takes a fenced block", answer: fenced('{"H":2,"O":1}'), value: water, pass: true },
    {
      name: "takes a block without language, and tildes",
      answer: fenced('{"H":2,"O":1}', "~~~"),
      value: water,
      pass: true,
    },
    { name: "takes a block left open", answer: '```json\n{"H":2,"O":1}', value: water, pass: true },
    {
      name: "takes the last block that is JSON",
      answer: `${fenced('{"H":1}')}\n${fenced('{"H":2,"O":1}')}\n${fenced("x = 1", "```py")}`,
      value: water,
      pass: true,
    },
    {
      name: "takes no earlier one",
      answer: `${fenced('{"H":2,"O":1}')}\n${fenced('{"H":1}')}`,
      value: water,
      pass: false,
    },
    {
      name: "finds no block inside of another",
      answer: fenced(fenced('{"H":2,"O":1}'), "````markdown"),
      value: water,
      pass: false,
    },
    {
      name: "reads a longer fence as one block",
      answer: fenced('{"H":2,"O":1}', "````json"),
      value: water,
      pass: true,
    },
    {
      name: "does not search prose for braces",
      answer: 'It is {"H":2,"O":1}.',
      value: water,
      pass: false,
    },
    { name: "refuses a key too many", answer: '{"H":2,"O":1,"C":0}', value: water, pass: false },
    { name: "refuses a key too few", answer: '{"H":2}', value: water, pass: false },
    {
      name: "lets the last of two equal keys count",
      answer: '{"H":9,"O":1,"H":2}',
      value: water,
      pass: true,
    },
    { name: "minds the order of a list", answer: "[2,1]", value: [1, 2], pass: false },
    { name: "minds the length of a list", answer: "[1,2,3]", value: [1, 2], pass: false },
    { name: "tells a list from an object", answer: '{"0":1}', value: [1], pass: false },
    { name: "tells a number from its text", answer: '"1"', value: 1, pass: false },
    { name: "takes 1.0 as 1", answer: "1.0", value: 1, pass: true },
    { name: "takes null as a value", answer: "null", value: null, pass: true },
    { name: "refuses null for a missing key", answer: '{"a":null}', value: {}, pass: false },
    {
      name: "finds no prototype equal to a key",
      answer: '{"__proto__":{"a":1}}',
      value: { a: 1 },
      pass: false,
    },
    { name: "refuses a number JSON cannot hold", answer: "1e999", value: 1e15, pass: false },
    { name: "refuses broken JSON", answer: '{"H":2,', value: water, pass: false },
    { name: "refuses an empty answer", answer: "", value: "", pass: false },
  ])("$name", ({ answer, value, pass }) =>
    expect(passes(answer, { type: "json", value })).toBe(pass),
  );

  it("says where it differs", () => {
    expect(
      grade('{"a":{"b/c":[1,2]}}', toGrader({ type: "json", value: { a: { "b/c": [1, 3] } } }))
        .detail,
    ).toBe("its JSON differs at /a/b~1c/1");
  });

  it("knows which line closes a block", () => {
    expect(fencedBlocks("```json\n1\n~~~\n``` x\n```\ntext\n~~~\n2\n~~~")).toEqual([
      "1\n~~~\n``` x",
      "2",
    ]);
  });
});

describe("whatever a model writes", () => {
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
  ])("$name are graded at once, and fail", ({ answer }) => {
    const begun = cpuMs();
    for (const grader of graders) expect(grade(answer, grader).pass).toBe(false);
    expect(cpuMs() - begun).toBeLessThan(2_000);
  });
});
