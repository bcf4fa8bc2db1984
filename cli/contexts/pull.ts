import type { Connection } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { commandAt } from "../invocation";
import type { Io } from "../io";
import type { IncomingChanges } from "./incoming";
import { incomingTurn } from "./incoming-turn";
import { incomingVersion } from "./incoming-version";
import { settlePull } from "./interrupted-pull";
import { readNotes } from "./note";
import { printPullExclusions, warnRunAutomatically } from "./exclusions";
import { printPatch } from "./patch";
import { PullFilter } from "./path-filter";
import { planOf } from "./plan";
import { planSummary, printSteps, resultSummary, writtenPaths } from "./pull-lines";
import { applyAndNote, pathsOf } from "./pull-result";
import { requireTerminal, review } from "./review";

export type PullOptions = {
  name?: string;
  session?: string;
  turn?: number;
  include?: readonly string[];
  apply?: true;
  patch?: true;
  dryRun?: true;
  skipConflicts?: true;
  review?: true;
};
type World = Pick<Io, "stdout" | "stderr" | "stdin" | "screen" | "env">;

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
  if (options.review) requireTerminal(world);
  const incoming = await incomingOf(directory, options, connection);
  if (incoming.notice !== null) world.stderr.write(`${incoming.notice}\n`);
  const filter = new PullFilter(directory, options.include ?? []);
  if (options.patch) return printPatch(incoming, filter, world);
  const plan = await planOf(directory, incoming.changes, filter);
  if (options.review) return review({ directory, incoming, plan }, world);
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
    if (steps.length === 0 && options.session === undefined && world.stderr.isTTY === true)
      world.stderr.write(
        `To copy what a team changed: ${commandAt(connection, "pull", "--session", "last")}\n`,
      );
    return conflicts.length > 0 ? EXIT.config : EXIT.ok;
  }
  const applied = steps.filter((step) => step.action !== "conflict");
  const result = {
    kept: pathsOf(conflicts, plan.triples),
    excluded: excludedPaths,
    taken: [],
    changed: pathsOf(applied, plan.triples),
  };
  const applying = { steps, result, fetch: incoming.theirs };
  const counts = await applyAndNote({ directory, incoming }, applying);
  world.stderr.write(`${incoming.sourceName}: ${resultSummary(counts, conflicts.length)}.\n`);
  return conflicts.length > 0 ? EXIT.config : EXIT.ok;
}

/**
 * Reads the requested changes: if `session` is set, those of the session's turn, otherwise those of
 * the context's newest version. Throws CliError.
 */
async function incomingOf(
  directory: string,
  { session, turn = 1, name }: PullOptions,
  connection: Connection,
): Promise<IncomingChanges> {
  const done = await settlePull(directory);
  const folder = { directory, notes: await readNotes(directory), done };
  return session === undefined
    ? incomingVersion(folder, name, connection)
    : incomingTurn(folder, { session, turn, name }, connection);
}

const CONFLICTS =
  "Nothing was written: files marked `conflict` were changed on both sides. `--patch` prints the changes for `git apply -3`; `--apply --skip-conflicts` applies all others.";

export { planSummary, printSteps, resultSummary, writtenPaths } from "./pull-lines";
