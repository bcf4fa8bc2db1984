import { describe, expect, it } from "vitest";
import { circleProblems } from "./circles";
import { parseSource } from "./source";

/** Files of one folder with their contents. */
const problemsOf = (files: Readonly<Record<string, string>>) =>
  circleProblems(
    Object.entries(files).map(([name, text]) => parseSource(`src/rules/${name}.ts`, text)),
  );

describe("circles of imports", () => {
  it.each([
    ["two files need each other", { a: `import { b } from "./b";`, b: `import { a } from "./a";` }],
    ["a circle takes three steps", { a: `import "./b";`, b: `import "./c";`, c: `import "./a";` }],
    [
      "one direction is types only",
      { a: `import { b } from "./b";`, b: `import type { A } from "./a";` },
    ],
    [
      "both directions are types only",
      { a: `import type { B } from "./b";`, b: `import type { A } from "./a";` },
    ],
    [
      "one direction is an inline type",
      { a: `import { b } from "./b";`, b: `type A = import("./a").A;` },
    ],
    [
      "one direction is a re-export",
      { index: `export * from "./a";`, a: `import { b } from "./index";` },
    ],
    [
      "one direction is a dynamic import",
      { a: `import { b } from "./b";`, b: `const a = await import("./a");` },
    ],
    [
      "a folder is named for its index",
      { index: `export { a } from "./a";`, a: `import { b } from "../rules";` },
    ],
    ["a file imports itself", { a: `import { other } from "./a";` }],
  ])("refuses that %s", (_, files) => {
    expect(problemsOf(files)).toHaveLength(1);
  });

  it.each([
    [
      "arrows meet again further down",
      { a: `import "./b"; import "./c";`, b: `import "./d";`, c: `import "./d";`, d: "" },
    ],
    ["a package has a file's name", { a: `import { b } from "b";`, b: `import { a } from "./a";` }],
    [
      "a neighbour folder has a file of the same name",
      { a: `import { b } from "../other/b";`, b: `import { a } from "./a";` },
    ],
    [
      "the other import is a comment",
      { a: `import { b } from "./b";`, b: `// import { a } from "./a";` },
    ],
  ])("allows that %s", (_, files) => {
    expect(problemsOf(files)).toEqual([]);
  });

  it("names every file of the cycle, and the line of its first import", () => {
    const files = {
      a: `export const a = 1;\nimport { b } from "./b";`,
      b: `import "./c";`,
      c: `import "./a";`,
    };
    expect(problemsOf(files)).toEqual([
      {
        path: "src/rules/a.ts",
        line: 2,
        message:
          "imports in a circle: src/rules/a.ts → src/rules/b.ts → src/rules/c.ts → src/rules/a.ts",
      },
    ]);
  });

  it("does not report a file that only leads to a cycle", () => {
    const files = { a: `import "./b";`, b: `import "./c";`, c: `import "./b";` };
    expect(problemsOf(files).map(({ path }) => path)).toEqual(["src/rules/b.ts"]);
  });

  it("reports the shortest of two cycles that share a file, and separate cycles each", () => {
    const long = { a: `import "./b";`, b: `import "./c";`, c: `import "./a";\nimport "./b";` };
    const apart = { y: `import "./z";`, z: `import "./y";` };
    expect(problemsOf({ ...long, ...apart }).map(({ path }) => path)).toEqual([
      "src/rules/b.ts",
      "src/rules/y.ts",
    ]);
  });
});
