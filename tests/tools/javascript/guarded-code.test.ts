import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { guardedCode } from "../../../src/tools/javascript/guarded-code";
import { ENDLESS_CODE } from "./endless-code";

function guardedOrThrow(code: string) {
  const result = guardedCode(code);
  if (!result.ok) throw new Error(result.problem);
  return result;
}

class OutOfSteps extends Error {}

/**
 * Runs guarded code. After `maxSteps` steps, the guard throws. Returns the steps and the outcome.
 */
async function run(
  code: string,
  maxSteps: number,
): Promise<{ steps: number; value?: unknown; error?: unknown }> {
  const { text, guard } = guardedOrThrow(code);
  const count = { steps: 0 };
  const step = () => {
    count.steps += 1;
    if (count.steps > maxSteps) throw new OutOfSteps();
  };
  const start = runInNewContext(`"use strict"; (${guard}) => (async () => {${text}\n})()`, {
    setTimeout,
  });
  try {
    return { value: await start(step), ...count };
  } catch (error) {
    return { error, ...count };
  }
}

describe("a guard", () => {
  it.each([
    {
      place: "the start of a loop body with a block",
      code: "while (a) { b(); }",
      text: "while (a) {$step(); b(); }",
    },
    {
      place: "the start of a loop body without a block",
      code: "for (;;) b();\nc()",
      text: "for (;;) {$step();b();}\nc()",
    },
    { place: "an empty loop body", code: "for (;;);", text: "for (;;){$step();;}" },
    {
      place: "the body of do without a block",
      code: "do b(); while (a)",
      text: "do {$step();b();} while (a)",
    },
    {
      place: "the bodies of nested loops",
      code: "while (a) while (b) c()",
      text: "while (a) {$step();while (b) {$step();c()}}",
    },
    {
      place: "the body of a loop with a label",
      code: "x: for (a of b) continue x",
      text: "x: for (a of b) {$step();continue x}",
    },
    { place: "the body of for in", code: "for (a in b) c", text: "for (a in b) {$step();c}" },
    {
      place: "the start of a function",
      code: "function f() { return 1 }",
      text: "function f() {$step(); return 1 }",
    },
    {
      place: "the expression of an arrow function",
      code: "a => b => ({ c })",
      text: "a => ($step(),b => (($step(),{ c })))",
    },
    {
      place: "an arrow function at the end of a loop body",
      code: "while (a) b => c",
      text: "while (a) {$step();b => ($step(),c)}",
    },
    {
      place: "methods and getters",
      code: "({ get a() {}, b() {} })",
      text: "({ get a() {$step();}, b() {$step();} })",
    },
    { place: "a default value", code: "({ a = b } = c)", text: "({ a = ($step(),b) } = c)" },
    {
      place: "a computed key of a destructuring pattern",
      code: "({ [a]: b } = c)",
      text: "({ [($step(),a)]: b } = c)",
    },
    {
      place: "the value of a class field",
      code: "class A { b = new A; c }",
      text: "class A { b = ($step(),new A); c }",
    },
    { place: "no other place", code: "if (a) { b } // for (;;)", text: "if (a) { b } // for (;;)" },
  ])("is inserted at $place", ({ code, text }) => {
    expect(guardedOrThrow(code).text).toBe(text);
  });

  it.each([
    { code: "let $step = 1; while ($step) {}", guard: "$step2" },
    { code: "let $step, $step2", guard: "$step3" },
    { code: "let \\u0024step", guard: "$step2" },
  ])("has a name that the code does not use: $guard in $code", ({ code, guard }) => {
    expect(guardedOrThrow(code).guard).toBe(guard);
  });

  it.each(ENDLESS_CODE)("stops $name", async ({ code }) => {
    const { error, steps } = await run(code, 10_000);
    expect(error).toBeInstanceOf(OutOfSteps);
    expect(steps).toBeLessThan(30_000);
  });

  it("does not change the behaviour of code", async () => {
    const code = `
      const sum = (a, b = a) => { let s = 0; for (const x of [a, b]) s += x; return s };
      class P { #v = 2; static s = 3; get v() { return this.#v } static { this.t = this.s + 1 } }
      function* g(n) { while (n--) yield n }
      async function* ag() { yield* [1, 2] }
      let seen = []; for await (const x of ag()) seen.push(x);
      outer: for (let i = 0; ; i++) { for (;;) { if (i < 3) continue outer; break outer } }
      const tag = (strings, ...values) => strings.raw.join("-") + values.join("+");
      const { [sum(1) + "k"]: k = "none" } = { "2k": "two" };
      do seen.push(9); while (seen.length < 4)
      return JSON.stringify([sum(1), sum(1, 5), new P().v, P.t, [...g(3)], seen, tag\`a\${1}b\${2}\`, k])`;
    expect(await run(code, 1_000)).toMatchObject({
      value: '[2,6,2,4,[2,1,0],[1,2,9,9],"a-b-1+2","two"]',
    });
  });

  it("is inserted into a loop with a sum of a thousand terms", () => {
    const sum = `${"1+".repeat(1_000)}1`;
    expect(guardedOrThrow(`for (;;) ${sum}`).text).toBe(`for (;;) {$step();${sum}}`);
  });
});

describe("code that cannot be run", () => {
  it.each([
    { code: "return 1 +", problem: "SyntaxError: Unexpected token (line 1, column 10)" },
    { code: "const a: number = 1", problem: "SyntaxError: Unexpected token (line 1, column 7)" },
    { code: "} {", problem: "SyntaxError: Unexpected token (line 1, column 0)" },
    { code: "with (a) {}", problem: "SyntaxError: 'with' in strict mode (line 1, column 0)" },
    {
      code: "#!/bin/node\nreturn 1",
      problem: "SyntaxError: Unexpected character '!' (line 1, column 1)",
    },
    {
      code: `${"[".repeat(30_000)}`,
      problem: "SyntaxError: Not enough stack space to parse input (line 1,",
    },
    { code: 'import fs from "node:fs"', problem: "There are no modules here" },
    { code: 'await import("node:fs")', problem: "There are no modules here" },
    { code: "export const a = 1", problem: "There are no modules here" },
  ])("is refused: $code", ({ code, problem }) => {
    const result = guardedCode(code);
    expect(result.ok ? "" : result.problem).toContain(problem);
  });
});
