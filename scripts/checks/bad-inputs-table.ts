import type { Reporter, TestCase } from "vitest/node";
import { EXCUSED_ROWS, rowOf } from "./acceptance.ts";

/** Prints each bad input and its response after a run with tests of the acceptance list. */

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be added to
  interface TaskMeta {
    /** The required response to a bad input. The test's name contains the row and the input. */
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
    ? [
        {
          row: found.row,
          input: shorten(found.input),
          answer: test.meta().refusal ?? "",
          isRefused,
        },
      ]
    : [];
}

const MAX_INPUT_CHARS = 100;
const shorten = (input: string): string =>
  input.length > MAX_INPUT_CHARS ? `${input.slice(0, MAX_INPUT_CHARS - 1)}…` : input;

/** Draws the tested rows in the order of the list, then the rows that need no test. */
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
  const excused = Object.entries(EXCUSED_ROWS).map(
    ([row, reason]) => `  ${row.padEnd(5)}not tested: ${reason}`,
  );
  const title = `Bad inputs: ${refused} of ${sorted.length} answered as stated, nothing written or sent`;
  return [title, ...lines, ...excused].join("\n");
}
