import { describe, expect, it } from "vitest";
import { type Allowance, budgetProblems, medianProblems, sizesIn } from "./budgets";
import { parseSource } from "./source";

const lines = (count: number, line = "  work();") => Array(count).fill(line).join("\n");
const problemsOf = (text: string, allowances: Allowance[] = []) =>
  budgetProblems([parseSource("src/a.ts", text)], allowances).map((problem) => problem.message);

it("the sizes of a folder are the median and the maximum of its own files", () => {
  const sources = [3, 9, 5].map((count, index) => parseSource(`src/${index}.ts`, lines(count)));
  const sizes = sizesIn("src", [...sources, parseSource("cli/a.ts", lines(50))]);
  expect(sizes).toEqual({ median: 5, max: 9 });
});

it.each([
  [89, 1],
  [90, 0],
  [120, 0],
  [121, 1],
])("a median of %s lines a file has %s problems", (median, problems) => {
  expect(medianProblems("cli", median)).toHaveLength(problems);
});

describe("the check of limits", () => {
  it.each([
    ["a file of 401 lines", lines(401, "work();"), "has 401 lines; limit is 400"],
    [
      "a function of 61 lines",
      `function a() {\n${lines(59)}\n}`,
      "function has 61 lines; limit is 60",
    ],
    [
      "an arrow function of 61 lines",
      `const a = () => {\n${lines(59)}\n};`,
      "function has 61 lines; limit is 60",
    ],
    [
      "a method of 61 lines",
      `class A {\n  b() {\n${lines(59)}\n  }\n}`,
      "function has 61 lines; limit is 60",
    ],
    ["five parameters", "function a(b, c, d, e, f) {}", "function has 5 parameters; limit is 4"],
    [
      "five parameters of a constructor",
      "class A { constructor(b, c, d, e, f) {} }",
      "function has 5 parameters; limit is 4",
    ],
    [
      "four levels of control flow",
      "if (a) for (const b of c) while (d) { if (e) f(); }",
      "control flow is nested 4 deep; limit is 3",
    ],
    [
      "a switch and a try as levels",
      "try { switch (a) { case 1: for (;;) { if (b) c(); } } } catch {}",
      "control flow is nested 4 deep; limit is 3",
    ],
  ])("refuses %s", (_, text, message) => {
    expect(problemsOf(text)).toEqual([message]);
  });

  it.each([
    ["a file of 400 lines", `${lines(400, "work();")}\n`],
    ["a function of 60 lines", `function a() {\n${lines(58)}\n}`],
    ["four parameters", "function a(b, c, d, e) {}"],
    ["three levels", "if (a) for (const b of c) while (d) e();"],
    [
      "a long chain of `else if`",
      "if (a) b(); else if (c) d(); else if (e) f(); else if (g) h(); else if (i) j();",
    ],
    [
      "three levels in a function that is itself inside three levels",
      "if (a) if (b) if (c) d(() => { if (e) if (f) if (g) h(); });",
    ],
    ["a group of tests over 60 lines", `describe("x", () => {\n${lines(100)}\n});`],
    [
      "a group of tests for each row of a table, over 60 lines",
      `describe.each([1])("x", () => {\n${lines(100)}\n});`,
    ],
  ])("allows %s", (_, text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  it("lets a file with an allowance exceed that limit, but no other limit", () => {
    const allowance: Allowance = { path: "src/a.ts", limit: "file", reason: "a table" };
    expect(problemsOf(lines(401, "work();"), [allowance])).toEqual([]);
    expect(
      problemsOf(`${lines(401, "work();")}\nfunction a(b, c, d, e, f) {}`, [allowance]),
    ).toHaveLength(1);
  });

  it("reports an allowance that is no longer needed", () => {
    expect(
      problemsOf("work();", [{ path: "src/a.ts", limit: "file", reason: "was long" }]),
    ).toEqual(["no longer needs an allowance for its file limit; remove it from the list"]);
  });
});
