import { expect, it } from "vitest";
import { castProblems } from "./casts";
import { parseSource } from "./source";

it.each([
  { name: "refuses an assertion", path: "src/a.ts", text: "const a = b as string;", found: 1 },
  {
    name: "refuses a double assertion twice",
    path: "src/a.ts",
    text: "const a = b as unknown as string;",
    found: 2,
  },
  {
    name: "refuses an assertion with angle brackets",
    path: "src/a.ts",
    text: "const a = <string>b;",
    found: 1,
  },
  {
    name: "refuses an assertion in a script",
    path: "scripts/a.ts",
    text: "const a = b as string;",
    found: 1,
  },
  { name: "allows `as const`", path: "src/a.ts", text: "const a = [1] as const;", found: 0 },
  { name: "allows `satisfies`", path: "src/a.ts", text: "const a = b satisfies string;", found: 0 },
  {
    name: "allows renamed imports",
    path: "src/a.ts",
    text: `import { a as b } from "./c"; export { b as c };`,
    found: 0,
  },
  {
    name: "allows an assertion in a schema",
    path: "src/providers/x/schema.ts",
    text: "const a = b as string;",
    found: 0,
  },
  {
    name: "allows an assertion in a test",
    path: "tests/a.test.ts",
    text: "const a = b as string;",
    found: 0,
  },
])("$name", ({ path, text, found }) => {
  expect(castProblems([parseSource(path, text)])).toHaveLength(found);
});
