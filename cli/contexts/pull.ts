import type { Connection } from "../credentials/connection";
import { plural } from "../../src/describe/figures";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import type { Io } from "../io";
import { toLine } from "../terminal/sanitize";
import { applySteps } from "./apply";
import { writeLink } from "./directory";
import { incomingOf } from "./incoming";
import { printStaying, warnRunUnasked } from "./left-out";
import { printPatch } from "./patch";
import { Arrivals, planOf } from "./plan";
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
 * Brings changes made elsewhere into a directory, or shows them. Gives 1 where something was
 * changed on both sides. Throws CliError.
 */
export async function pull(
  directory: string,
  options: PullOptions,
  connection: Connection,
  world: World,
): Promise<ExitCode> {
  const incoming = await incomingOf(directory, options, connection);
  if (incoming.note !== null) world.stderr.write(`${incoming.note}\n`);
  const arrivals = new Arrivals(directory, options.include ?? []);
  if (options.patch) return printPatch(incoming, arrivals, world);
  const { steps, leftOut, without } = await planOf(directory, incoming.changes, arrivals);
  const conflicts = steps.filter((step) => step.action === "conflict");
  printSteps(steps, world);
  printStaying(leftOut, world);
  if (options.apply && conflicts.length > 0 && !options.skipConflicts)
    throw new CliError(EXIT.config, CONFLICTS);
  // before the first is written, so that a pull that breaks off has said it
  warnRunUnasked(arriving(steps), world);
  if (!options.apply) {
    world.stderr.write(
      `${incoming.what}: ${sumOf(steps)}. ${steps.length > conflicts.length ? "--apply does this." : ""}`
        .trimEnd()
        .concat("\n"),
    );
    return conflicts.length > 0 ? EXIT.config : EXIT.ok;
  }
  const done = await applySteps(directory, steps, incoming.theirs);
  if (incoming.arrives && conflicts.length === 0) {
    const link = { server: connection.server, ...incoming.arrives };
    await writeLink(directory, without.length > 0 ? { ...link, without } : link);
  }
  world.stderr.write(
    `${incoming.what}: ${done.written} written, ${done.renamed > 0 ? `${done.renamed} renamed, ` : ""}${done.deleted} deleted, ${plural(conflicts.length, "conflict")}.\n`,
  );
  return conflicts.length > 0 ? EXIT.config : EXIT.ok;
}

/** The paths that something comes to. */
const arriving = (steps: readonly Step[]): string[] =>
  steps.flatMap(({ action, path }) => (action === "write" || action === "rename" ? [path] : []));

const CONFLICTS =
  "Nothing was written: files marked `conflict` were changed on both sides. `--patch` prints the changes for `git apply -3`; `--apply --skip-conflicts` applies all others.";

const sumOf = (steps: readonly Step[]): string => {
  const count = (action: Step["action"]) => steps.filter((step) => step.action === action).length;
  if (steps.length === 0) return "nothing to do";
  const renames = count("rename") > 0 ? `${count("rename")} to rename, ` : "";
  return `${count("write")} to write, ${renames}${count("delete")} to delete, ${plural(count("conflict"), "conflict")}`;
};

/**
 * A line for each step: `write`, `rename`, `delete` or `conflict`, the path, and which name it had
 * or why.
 */
function printSteps(steps: readonly Step[], { stdout }: World): void {
  for (const step of steps) {
    const more =
      step.action === "conflict" ? [step.why] : step.action === "rename" ? [`was ${step.was}`] : [];
    stdout.write(`${[step.action, ...[step.path, ...more].map(toLine)].join("\t")}\n`);
  }
}
