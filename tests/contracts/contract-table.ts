import type { Reporter, TestCase, TestModule } from "vitest/node";

/**
 * A reporter that prints a table after a run with contract tests. It shows which cases of the
 * provider contract each wire format passes.
 */

const CONTRACT = /^(?<format>.+) keeps the provider contract$/;
const MARKS = { passed: "✓", failed: "✗", skipped: "s", pending: "?" } as const;
const MISSING = "–";

/** One test of the contract suite. `group` is empty for a case outside any group. */
export type ContractResult = {
  format: string;
  group: string;
  name: string;
  state: keyof typeof MARKS;
};

export const contractTable: Reporter = {
  onTestRunEnd(modules) {
    const results = modules
      .flatMap((module) => [...module.children.allTests()])
      .flatMap((test) => toResult(test) ?? []);
    // Files end in any order, but the table always has the same order.
    const sorted = results.toSorted((one, other) => one.format.localeCompare(other.format));
    if (sorted.length > 0) process.stdout.write(`\n${drawTable(sorted)}\n`);
  },
};

function toResult(test: TestCase): ContractResult | null {
  const names: string[] = [];
  for (
    let suite: TestCase["parent"] | TestModule = test.parent;
    suite.type === "suite";
    suite = suite.parent
  ) {
    names.unshift(suite.name);
  }
  const [first = "", ...groups] = names;
  const format = CONTRACT.exec(first)?.groups?.["format"];
  if (format === undefined) return null;
  return { format, group: groups.join(" "), name: test.name, state: test.result().state };
}

/**
 * The table: cases as rows under their groups, formats as numbered columns. Both are in the order
 * of their first appearance.
 */
export function drawTable(results: readonly ContractResult[]): string {
  const formats = [...new Set(results.map(({ format }) => format))];
  const groups = [...new Set(results.map(({ group }) => group))];
  const width = Math.max(...results.map(({ name }) => name.length)) + 2;
  const row = (name: string, marks: readonly string[]) =>
    `${name.padEnd(width)}${marks.map((mark) => mark.padStart(3)).join("")}`;
  const numbers = formats.map((_, n) => `${n + 1}`);
  const legend = formats.map((format, n) => `${n + 1} ${format}`).join(" · ");
  const rows = groups.flatMap((group) => {
    const cells = results.filter((result) => result.group === group);
    const names = [...new Set(cells.map(({ name }) => name))];
    const marksOf = (name: string) =>
      formats.map((format) =>
        markOf(cells.filter((cell) => cell.name === name && cell.format === format)),
      );
    return [group, ...names.map((name) => row(`  ${name}`, marksOf(name)))];
  });
  return [`Provider contract: ${legend}`, row("", numbers), ...rows].join("\n");
}

/**
 * The mark of one case. Two tests with the same name are one case, and the worse result is shown.
 */
function markOf(cells: readonly ContractResult[]): string {
  const states = new Set(cells.map(({ state }) => state));
  const worst = (["failed", "pending", "skipped", "passed"] as const).find((state) =>
    states.has(state),
  );
  return worst === undefined ? MISSING : MARKS[worst];
}
