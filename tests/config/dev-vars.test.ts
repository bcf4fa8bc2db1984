import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { KEY_NAMES, OPERATOR_VARIABLES } from "../../src/providers/registry";

it("the example of .dev.vars names every key and every variable of the operator's once, none of them set", () => {
  const lines = readFileSync(".dev.vars.example", "utf8").split("\n");
  const offered = lines.flatMap((line) => /^# ([A-Z_]+)="/.exec(line)?.[1] ?? []);
  expect([...offered].sort()).toEqual([...KEY_NAMES, ...OPERATOR_VARIABLES].sort());
});
