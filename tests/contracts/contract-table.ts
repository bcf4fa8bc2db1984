import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Prints, after a run that held contract tests, which case of the provider contract each wire format keeps. */

const CONTRACT = /^(?<format>.+) keeps the provider contract$/;
const MARKS = { passed: "✓", failed: "✗", skipped: "s", pending: "?" } as const;
const NOT_THERE = "–";

/** One test of the contract suite. `group` is empty for a case that stands in none. */
export type ContractResult = { format: string; group: string; name: string; state: keyof typeof MARKS };

export const contractTable: Reporter = {
  onTestRunEnd(modules) {
    const results = modules.flatMap((module) => [...module.children.allTests()]).flatMap((test) => toResult(test) ?? []);
    if (results.length > 0) process.stdout.write(`\n${drawTable(results)}\n`);
  },
};

function toResult(test: TestCase): ContractResult | null {
  const names: string[] = [];
  for (let suite: TestCase["parent"] | TestModule = test.parent; suite.type === "suite"; suite = suite.parent) {
    names.unshift(suite.name);
  }
  const [first = "", ...groups] = names;
  const format = CONTRACT.exec(first)?.groups?.["format"];
  if (format === undefined) return null;
  return { format, group: groups.join(" "), name: test.name, state: test.result().state };
}

/** Cases as rows under their groups, formats as columns, all in the order in which they first come. */
export function drawTable(results: readonly ContractResult[]): string {
  const formats = [...new Set(results.map(({ format }) => format))];
  const groups = [...new Set(results.map(({ group }) => group))];
  const width = Math.max(...results.map(({ name }) => name.length)) + 4;
  const marks = (cells: readonly ContractResult[]) =>
    formats.map((format) => centred(markOf(cells.filter((cell) => cell.format === format)), format.length)).join("  ");
  const rows = groups.flatMap((group) => {
    const cells = results.filter((result) => result.group === group);
    const names = [...new Set(cells.map(({ name }) => name))];
    return [group, ...names.map((name) => `  ${name}`.padEnd(width) + marks(cells.filter((cell) => cell.name === name)))];
  });
  return [`${"Provider contract".padEnd(width)}${formats.join("  ")}`, ...rows].map((row) => row.trimEnd()).join("\n");
}

/** Two tests of one name are one case; the worse of them counts. */
function markOf(cells: readonly ContractResult[]): string {
  const states = new Set(cells.map(({ state }) => state));
  const worst = (["failed", "pending", "skipped", "passed"] as const).find((state) => states.has(state));
  return worst === undefined ? NOT_THERE : MARKS[worst];
}

const centred = (mark: string, width: number): string => mark.padStart(Math.ceil((width + 1) / 2)).padEnd(width);
