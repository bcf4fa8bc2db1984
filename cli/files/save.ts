import path from "node:path";
import { plural } from "../../src/describe/figures";
import { applySteps } from "../contexts/apply";
import {
  type Exclusion,
  Includes,
  printPullExclusions,
  setsPackageSource,
  warnRunAutomatically,
} from "../contexts/exclusions";
import { planOf } from "../contexts/plan";
import { printSteps, writtenPaths } from "../contexts/pull";
import type { Step } from "../contexts/three-way";
import { toDirectory } from "../contexts/directory";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import type { Io } from "../io";
import type { RequestContext } from "../service/problem";
import type { FileList } from "../service/schema";
import { fetchFromResult, type FilesPlace } from "./result-files";
import {
  basesOf,
  changesToSave,
  filesAfter,
  makeFolder,
  readSavedFiles,
  type SavedFiles,
  settledNote,
  writeSavedFiles,
} from "./saved-files";

export type SaveOptions = {
  include?: readonly string[] | undefined;
  dryRun?: boolean | undefined;
  skipConflicts?: boolean | undefined;
};
type Result = { place: FilesPlace; list: FileList; sourceName: string };
type World = Pick<Io, "stdout" | "stderr" | "cwd">;

/**
 * Writes the files of a result into a folder. Compares three sides, as `pull` does: a file that the
 * user changed since the last save, or that another program made, is a conflict and is kept.
 * Returns exit code 1 if a conflict was skipped. Throws CliError.
 */
export async function saveFiles(
  folderName: string,
  { place, list, sourceName }: Result,
  { options, context, world }: { options: SaveOptions; context: RequestContext; world: World },
): Promise<ExitCode> {
  const folder = path.resolve(world.cwd, folderName);
  if (!options.dryRun) await makeFolder(folder).catch(() => undefined);
  if (!options.dryRun) await toDirectory(world.cwd, folderName);
  const found = await readSavedFiles(folder);
  const note = found && (await settledNote(folder, found));
  const source = { note, server: context.server, session: place.session };
  const changes = changesToSave(list, source);
  const { steps, exclusions, excludedPaths } = await planOf(
    folder,
    changes,
    new SaveFilter(options.include ?? []),
  );
  const conflicts = steps.filter(({ action }) => action === "conflict");
  printSteps(steps, world);
  printPullExclusions(exclusions, world);
  if (options.dryRun) {
    world.stderr.write(`${sourceName}: ${countsOf(steps)}. Nothing was written.\n`);
    return conflicts.length > 0 ? EXIT.config : EXIT.ok;
  }
  if (conflicts.length > 0 && !options.skipConflicts)
    throw new CliError(EXIT.config, conflictMessage(folderName));
  warnRunAutomatically(writtenPaths(steps), world);
  const left = new Set([...excludedPaths, ...conflicts.map((step) => step.path)]);
  const base = { server: context.server, session: place.session };
  const before = basesOf(changes);
  await writeSavedFiles(folder, { ...base, files: before, pending: pendingOf(steps) });
  const wanted = wantedOf(list, steps);
  await applySteps(folder, steps, fetchFromResult(place, wanted, context));
  await writeSavedFiles(folder, { ...base, files: filesAfter(changes, left) });
  world.stderr.write(`${sourceName}: ${countsOf(steps)}, in ${folderName}.\n`);
  return conflicts.length > 0 ? EXIT.config : EXIT.ok;
}

/**
 * Excludes settings files of package managers, as `pull` does: programs read them automatically.
 */
class SaveFilter {
  readonly #includes: Includes;

  constructor(includes: readonly string[]) {
    this.#includes = new Includes(includes);
  }

  async exclusionOf(file: string): Promise<Exclusion | null> {
    return setsPackageSource(file) && !this.#includes.matchesDirectly(file)
      ? { path: file, reason: "sets a package source" }
      : null;
  }
}

const wantedOf = (list: FileList, steps: readonly Step[]): FileList["data"] => {
  const paths = new Set(writtenPaths(steps));
  return list.data.filter(({ path: file }) => paths.has(file));
};

function pendingOf(steps: readonly Step[]): NonNullable<SavedFiles["pending"]> {
  const pending: NonNullable<SavedFiles["pending"]> = new Map();
  for (const step of steps) {
    if (step.action === "write") pending.set(step.path, step.to);
    if (step.action === "delete") pending.set(step.path, null);
  }
  return pending;
}

function countsOf(steps: readonly Step[]): string {
  const count = (action: Step["action"]) => steps.filter((step) => step.action === action).length;
  if (steps.length === 0) return "nothing new to write";
  const renamed = count("rename");
  return [
    `${count("write")} written`,
    ...(renamed > 0 ? [`${renamed} renamed`] : []),
    ...(count("delete") > 0 ? [`${count("delete")} deleted`] : []),
    ...(count("conflict") > 0 ? [plural(count("conflict"), "conflict")] : []),
  ].join(", ");
}

const conflictMessage = (folderName: string): string =>
  `Nothing was written: ${folderName} has files that this command did not write, or that were changed since. Save into another folder, or add --skip-conflicts to write all others.`;
