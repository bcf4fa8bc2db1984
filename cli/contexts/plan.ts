import { inspect, isOneFile, refusalOf } from "./directory";
import { IgnoreFiles } from "./ignore-files";
import { choosesPackages, Includes, type Exclusion, exclusionReason } from "./exclusions";
import { type Change, isChange, planSteps, type Step, type Triple } from "./three-way";

/** `without`: paths of the changed files that are excluded. */
export type Plan = { steps: Step[]; leftOut: Exclusion[]; without: string[] };

/** The steps that apply these changes to a directory. */
export async function planOf(
  directory: string,
  changes: readonly Change[],
  filter: PullFilter,
): Promise<Plan> {
  const plan: Pick<Plan, "leftOut" | "without"> = { leftOut: [], without: [] };
  const included: Triple[] = [];
  for (const change of mergeCaseVariants(
    changes,
    await sameFileVariants(directory, caseVariantsIn(changes)),
  ).filter(isChange)) {
    const triple = { ...change, here: await inspect(directory, change.path) };
    const isStep = planSteps([triple]).length > 0;
    const exclusion =
      isStep && refusalOf(change.path) === null ? await filter.exclusionOf(change.path) : null;
    if (exclusion === null) included.push(triple);
    else {
      plan.leftOut.push(exclusion);
      plan.without.push(change.path);
    }
  }
  return { ...plan, steps: planSteps(included) };
}

async function sameFileVariants(
  directory: string,
  variants: readonly CaseVariants[],
): Promise<CaseVariants[]> {
  const found: CaseVariants[] = [];
  for (const { deleted, kept } of variants) {
    const mayExist = refusalOf(deleted) === null && refusalOf(kept) === null;
    if (mayExist && (await isOneFile(directory, deleted, kept))) found.push({ deleted, kept });
  }
  return found;
}

/**
 * Two paths that differ only in case. The service deleted `deleted` and has `kept`. On a
 * case-insensitive disk, both are one file.
 */
export type CaseVariants = { deleted: string; kept: string };

/**
 * The form in which case-insensitive disks compare names. Upper case comes first, because several
 * lower-case letters can share one capital.
 */
const folded = (path: string): string => path.toUpperCase().toLowerCase();

/** Pairs of a deleted and an existing path that may be one file on this machine. */
export function caseVariantsIn(changes: readonly Change[]): CaseVariants[] {
  const existing = new Map<string, string[]>();
  for (const { path, theirs } of changes) {
    if (theirs === null) continue;
    const key = folded(path);
    existing.set(key, [...(existing.get(key) ?? []), path]);
  }
  const removals = changes.filter(({ base, theirs }) => base !== null && theirs === null);
  return removals.flatMap(({ path: deleted }) =>
    (existing.get(folded(deleted)) ?? []).map((kept) => ({ deleted, kept })),
  );
}

/**
 * The changes if each pair is one file on this machine, which must not be deleted. If the base
 * version has only the old name, the file is renamed and compared under its new name. If the base
 * version has both names, the file keeps its name.
 */
export function mergeCaseVariants(
  changes: readonly Change[],
  variants: readonly CaseVariants[],
): Change[] {
  const merged = new Map(changes.map((change) => [change.path, change]));
  for (const { deleted, kept } of variants) {
    const [before, after] = [merged.get(deleted), merged.get(kept)];
    if (!before || !after) continue;
    merged.delete(deleted);
    if (after.base === null) merged.set(kept, { ...after, base: before.base, was: deleted });
  }
  return [...merged.values()];
}

/**
 * Decides which files a pull excludes unless `--include` names them: the files that a push
 * excludes, and settings that choose package sources. Programs read such files automatically.
 */
export class PullFilter {
  readonly #ignored: IgnoreFiles;
  readonly #includes: Includes;

  /** `includes`: gitignore patterns of files that are pulled despite an exclusion. */
  constructor(directory: string, includes: readonly string[]) {
    this.#ignored = new IgnoreFiles(directory);
    this.#includes = new Includes(includes);
  }

  /**
   * The exclusion that applies to a file: its own or that of a folder above it; `null` if the file
   * is pulled. Requires a path without a refusal (`refusalOf`).
   */
  async exclusionOf(file: string): Promise<Exclusion | null> {
    const names = file.split("/");
    for (let depth = 1; depth < names.length; depth += 1) {
      const folder = `${names.slice(0, depth).join("/")}/`;
      const reason = exclusionReason(folder, await this.#ignored.for(folder), this.#includes);
      if (reason !== null && !this.#includes.reachInto(folder)) return { path: folder, reason };
    }
    if (choosesPackages(file) && !this.#includes.hasItself(file))
      return { path: file, reason: "sets a package source" };
    const reason = exclusionReason(file, await this.#ignored.for(file), this.#includes);
    return reason && { path: file, reason };
  }
}
