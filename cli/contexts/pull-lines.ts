import { plural } from "../../src/describe/figures";
import type { Io } from "../io";
import { toLine } from "../terminal/sanitize";
import type { Step } from "./three-way";

/** The paths of written files, and the new paths of renamed files. */
export const writtenPaths = (steps: readonly Step[]): string[] =>
  steps.flatMap(({ action, path }) => (action === "write" || action === "rename" ? [path] : []));

/** The number of planned steps of each kind. */
export const planSummary = (steps: readonly Step[]): string => {
  const count = (action: Step["action"]) => steps.filter((step) => step.action === action).length;
  if (steps.length === 0) return "nothing to do";
  const renames = count("rename") > 0 ? `${count("rename")} to rename, ` : "";
  return `${count("write")} to write, ${renames}${count("delete")} to delete, ${plural(count("conflict"), "conflict")}`;
};

/** The number of steps that were done, and of conflicts. */
export const resultSummary = (
  { written, renamed, deleted }: { written: number; renamed: number; deleted: number },
  conflicts: number,
): string =>
  `${written} written, ${renamed > 0 ? `${renamed} renamed, ` : ""}${deleted} deleted, ${plural(conflicts, "conflict")}`;

/**
 * Prints one line per step: `write`, `rename`, `delete` or `conflict`, and the path. The line of a
 * rename also has the old name, and the line of a conflict has its reason.
 */
export function printSteps(steps: readonly Step[], { stdout }: Pick<Io, "stdout">): void {
  for (const step of steps) {
    const details =
      step.action === "conflict" ? [step.why] : step.action === "rename" ? [`was ${step.was}`] : [];
    stdout.write(`${[step.action, ...[step.path, ...details].map(toLine)].join("\t")}\n`);
  }
}
