import { describe, expect, it } from "vitest";
import { importCycleProblems } from "./import-cycles";
import { parseSource } from "./source";

/** The problems of a folder with these files: name → contents. */
const problemsOf = (files: Readonly<Record<string, string>>) =>
  importCycleProblems(
    Object.entries(files).map(([name, text]) => parseSource(`src/rules/${name}.ts`, text)),
  );

describe("the check for import cycles", () => {
  it.each([
    [
      "two files that import each other",
      { a: `import { b } from "./b";`, b: `import { a } from "./a";` },
    ],
    ["a cycle of three files", { a: `import "./b";`, b: `import "./c";`, c: `import "./a";` }],
    [
      "a cycle in which one import is of types only",
      { a: `import { b } from "./b";`, b: `import type { A } from "./a";` },
    ],
    [
      "a cycle of type imports only",
      { a: `import type { B } from "./b";`, b: `import type { A } from "./a";` },
    ],
    [
      "a cycle through an inline type import",
      { a: `import { b } from "./b";`, b: `type A = import("./a").A;` },
    ],
    [
      "a cycle through a re-export",
      { index: `export * from "./a";`, a: `import { b } from "./index";` },
    ],
    [
      "a cycle through a dynamic import",
      { a: `import { b } from "./b";`, b: `const a = await import("./a");` },
    ],
    [
      "a cycle through the index file of a folder",
      { index: `export { a } from "./a";`, a: `import { b } from "../rules";` },
    ],
    ["a file that imports itself", { a: `import { other } from "./a";` }],
  ])("refuses %s", (_, files) => {
    expect(problemsOf(files)).toHaveLength(1);
  });

  it.each([
    [
      "two files that import the same third file",
      { a: `import "./b"; import "./c";`, b: `import "./d";`, c: `import "./d";`, d: "" },
    ],
    [
      "a package with the name of a file",
      { a: `import { b } from "b";`, b: `import { a } from "./a";` },
    ],
    [
      "a file of the same name in another folder",
      { a: `import { b } from "../other/b";`, b: `import { a } from "./a";` },
    ],
    ["an import in a comment", { a: `import { b } from "./b";`, b: `// import { a } from "./a";` }],
  ])("allows %s", (_, files) => {
    expect(problemsOf(files)).toEqual([]);
  });

  it("reports all files of a cycle, and the line of its first import", () => {
    const files = {
      a: `export const a = 1;\nimport { b } from "./b";`,
      b: `import "./c";`,
      c: `import "./a";`,
    };
    expect(problemsOf(files)).toEqual([
      {
        path: "src/rules/a.ts",
        line: 2,
        message: "import cycle: src/rules/a.ts → src/rules/b.ts → src/rules/c.ts → src/rules/a.ts",
      },
    ]);
  });

  it("does not report a file that imports a file of a cycle but is not part of it", () => {
    const files = { a: `import "./b";`, b: `import "./c";`, c: `import "./b";` };
    expect(problemsOf(files).map(({ path }) => path)).toEqual(["src/rules/b.ts"]);
  });

  it("reports each cycle, but only the shortest of those that share a file", () => {
    const sharing = { a: `import "./b";`, b: `import "./c";`, c: `import "./a";\nimport "./b";` };
    const separate = { y: `import "./z";`, z: `import "./y";` };
    expect(problemsOf({ ...sharing, ...separate }).map(({ path }) => path)).toEqual([
      "src/rules/b.ts",
      "src/rules/y.ts",
    ]);
  });
});
