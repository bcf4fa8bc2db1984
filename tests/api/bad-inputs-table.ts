import type { Reporter, TestCase } from "vitest/node";

/** Prints, after a run that held the bad inputs, what each was refused with. */

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be added to
  interface TaskMeta {
    /** Row of the acceptance list, what was sent, and what must come back. */
    badInput?: { row: string; input: string; answer: string };
  }
}

export type BadInputResult = { row: string; input: string; answer: string; isRefused: boolean };

export const badInputsTable: Reporter = {
  onTestRunEnd(modules) {
    const results = modules.flatMap((module) => [...module.children.allTests()]).flatMap(toResult);
    if (results.length > 0) process.stdout.write(`\n${drawBadInputs(results)}\n`);
  },
};

function toResult(test: TestCase): BadInputResult[] {
  const { badInput } = test.meta();
  return badInput ? [{ ...badInput, isRefused: test.result().state === "passed" }] : [];
}

/** Rows in the order of the list. */
export function drawBadInputs(results: readonly BadInputResult[]): string {
  const sorted = results.toSorted((one, other) => one.row.localeCompare(other.row, "en", { numeric: true }));
  const width = Math.max(...sorted.map(({ input }) => input.length)) + 2;
  const lines = sorted.map(
    ({ row, input, answer, isRefused }) => `  ${row.padEnd(5)}${input.padEnd(width)}${answer.padEnd(34)}${isRefused ? "✓" : "✗"}`,
  );
  const refused = sorted.filter(({ isRefused }) => isRefused).length;
  return [`Bad inputs: ${refused} of ${sorted.length} refused as stated, nothing written or sent`, ...lines].join("\n");
}
