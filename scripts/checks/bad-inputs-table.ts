import type { Reporter, TestCase } from "vitest/node";
import { NOT_REACHED, rowOf } from "./acceptance.ts";

/** After a run with tests of the acceptance list, prints each bad input and its response. */

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be added to
  interface TaskMeta {
    /** The required response to a bad input. The test's name contains the rest. */
    refusal?: string;
  }
}

type BadInputResult = { row: string; input: string; answer: string; isRefused: boolean };

export const badInputsTable: Reporter = {
  onTestRunEnd(modules) {
    const results = modules.flatMap((module) => [...module.children.allTests()]).flatMap(toResult);
    if (results.length > 0) process.stdout.write(`\n${drawBadInputs(results)}\n`);
  },
};

function toResult(test: TestCase): BadInputResult[] {
  const found = rowOf(test.fullName.split(" > "));
  const isRefused = test.result().state === "passed";
  return found
    ? [{ row: found.row, input: cut(found.input), answer: test.meta().refusal ?? "", isRefused }]
    : [];
}

const WIDEST = 100;
const cut = (input: string): string =>
  input.length > WIDEST ? `${input.slice(0, WIDEST - 1)}…` : input;

/** Rows in the order of the list, then the rows that cannot be tested. */
export function drawBadInputs(results: readonly BadInputResult[]): string {
  const sorted = results.toSorted((one, other) =>
    one.row.localeCompare(other.row, "en", { numeric: true }),
  );
  const width = Math.max(...sorted.map(({ input }) => input.length)) + 2;
  const lines = sorted.map(
    ({ row, input, answer, isRefused }) =>
      `  ${row.padEnd(5)}${input.padEnd(width)}${answer.padEnd(34)}${isRefused ? "✓" : "✗"}`,
  );
  const refused = sorted.filter(({ isRefused }) => isRefused).length;
  const absent = Object.entries(NOT_REACHED).map(
    ([row, reason]) => `  ${row.padEnd(5)}not to be met: ${reason}`,
  );
  const title = `Bad inputs: ${refused} of ${sorted.length} answered as stated, nothing written or sent`;
  return [title, ...lines, ...absent].join("\n");
}
