import type { Connection } from "../credentials/connection";
import { plural } from "../../src/describe/figures";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import type { Io } from "../io";
import { toLine } from "../terminal/sanitize";
import { applySteps } from "./apply";
import { writeLink } from "./directory";
import { incomingOf } from "./incoming";
import { printPullExclusions, warnRunAutomatically } from "./exclusions";
import { printPatch } from "./patch";
import { PullFilter, planOf } from "./plan";
import type { Step } from "./three-way";

export type PullOptions = {
  name?: string;
  session?: string;
  turn?: number;
  include?: readonly string[];
  apply?: true;
  patch?: true;
  dryRun?: true;
  skipConflicts?: true;
};
type World = Pick<Io, "stdout" | "stderr">;

/**
 * Applies changes from the service to a directory, or prints them. Returns exit code 1 if a file
 * was changed on both sides. Throws CliError.
 */
export async function pull(
  directory: string,
  options: PullOptions,
  connection: Connection,
  world: World,
): Promise<ExitCode> {
  const incoming = await incomingOf(directory, options, connection);
  if (incoming.note !== null) world.stderr.write(`${incoming.note}\n`);
  const filter = new PullFilter(directory, options.include ?? []);
  if (options.patch) return printPatch(incoming, filter, world);
  const plan = await planOf(directory, incoming.changes, filter);
  const { steps, exclusions, excludedPaths } = plan;
  const conflicts = steps.filter((step) => step.action === "conflict");
  printSteps(steps, world);
  printPullExclusions(exclusions, world);
  if (options.apply && conflicts.length > 0 && !options.skipConflicts)
    throw new CliError(EXIT.config, CONFLICTS);
  // before the first write, so that an interrupted pull has printed the warning
  warnRunAutomatically(writtenPaths(steps), world);
  if (!options.apply) {
    world.stderr.write(
      `${incoming.sourceName}: ${planSummary(steps)}. ${steps.length > conflicts.length ? "--apply does this." : ""}`
        .trimEnd()
        .concat("\n"),
    );
    return conflicts.length > 0 ? EXIT.config : EXIT.ok;
  }
  const counts = await applySteps(directory, steps, incoming.theirs);
  if (incoming.resultingVersion && conflicts.length === 0) {
    const link = { server: connection.server, ...incoming.resultingVersion };
    const without = excludedPaths.length > 0 ? { without: excludedPaths } : {};
    await writeLink(directory, { ...link, ...without });
  }
  world.stderr.write(
    `${incoming.sourceName}: ${counts.written} written, ${counts.renamed > 0 ? `${counts.renamed} renamed, ` : ""}${counts.deleted} deleted, ${plural(conflicts.length, "conflict")}.\n`,
  );
  return conflicts.length > 0 ? EXIT.config : EXIT.ok;
}

/** The paths of written files, and the new paths of renamed files. */
export const writtenPaths = (steps: readonly Step[]): string[] =>
  steps.flatMap(({ action, path }) => (action === "write" || action === "rename" ? [path] : []));

const CONFLICTS =
  "Nothing was written: files marked `conflict` were changed on both sides. `--patch` prints the changes for `git apply -3`; `--apply --skip-conflicts` applies all others.";

const planSummary = (steps: readonly Step[]): string => {
  const count = (action: Step["action"]) => steps.filter((step) => step.action === action).length;
  if (steps.length === 0) return "nothing to do";
  const renames = count("rename") > 0 ? `${count("rename")} to rename, ` : "";
  return `${count("write")} to write, ${renames}${count("delete")} to delete, ${plural(count("conflict"), "conflict")}`;
};

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
