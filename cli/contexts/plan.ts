import { inspect, isSameFile, refusalOf } from "./directory";
import type { Exclusion } from "./exclusions";
import type { PullFilter } from "./path-filter";
import { type Change, isChange, planSteps, type Step, type Triple } from "./three-way";

/**
 * The steps of a pull, and what it excludes. `triples`: the changes that the steps apply.
 * `exclusions`: the excluded files and folders, with reasons. `excludedPaths`: the changed files
 * that one of these exclusions applies to.
 */
export type Plan = {
  steps: Step[];
  triples: Triple[];
  exclusions: Exclusion[];
  excludedPaths: string[];
};

/** Plans the steps that apply these changes to a directory, without the excluded files. */
export async function planOf(
  directory: string,
  changes: readonly Change[],
  filter: Pick<PullFilter, "exclusionOf">,
): Promise<Plan> {
  const sameFiles = await sameFileVariants(directory, caseVariantsIn(changes));
  const merged = mergeCaseVariants(changes, sameFiles).filter(isChange);
  const exclusions: Exclusion[] = [];
  const excludedPaths: string[] = [];
  const included: Triple[] = [];
  for (const change of merged) {
    const triple = { ...change, here: await inspect(directory, change.path) };
    const hasStep = planSteps([triple]).length > 0;
    // A refused path has no exclusion: its step is a conflict with the reason of the refusal.
    const mayBeExcluded = hasStep && refusalOf(change.path) === null;
    const exclusion = mayBeExcluded ? await filter.exclusionOf(change.path) : null;
    if (exclusion === null) included.push(triple);
    else {
      exclusions.push(exclusion);
      excludedPaths.push(change.path);
    }
  }
  return { steps: planSteps(included), triples: included, exclusions, excludedPaths };
}

async function sameFileVariants(
  directory: string,
  variants: readonly CaseVariants[],
): Promise<CaseVariants[]> {
  const found: CaseVariants[] = [];
  for (const { deleted, kept } of variants) {
    const mayExist = refusalOf(deleted) === null && refusalOf(kept) === null;
    if (mayExist && (await isSameFile(directory, deleted, kept))) found.push({ deleted, kept });
  }
  return found;
}

/**
 * Two paths that differ only in case: `deleted` was deleted at the service, `kept` still exists
 * there. On a case-insensitive disk, both paths are the same file.
 */
export type CaseVariants = { deleted: string; kept: string };

/**
 * Folds case as a case-insensitive disk does when it compares names. Converts to upper case first:
 * several lower-case letters can have the same upper-case letter.
 */
const foldCase = (path: string): string => path.toUpperCase().toLowerCase();

/** Pairs of a deleted and an existing path that may be the same file on this machine. */
export function caseVariantsIn(changes: readonly Change[]): CaseVariants[] {
  const existing = new Map<string, string[]>();
  for (const { path, theirs } of changes) {
    if (theirs === null) continue;
    const key = foldCase(path);
    existing.set(key, [...(existing.get(key) ?? []), path]);
  }
  const removals = changes.filter(({ base, theirs }) => base !== null && theirs === null);
  return removals.flatMap(({ path: deleted }) =>
    (existing.get(foldCase(deleted)) ?? []).map((kept) => ({ deleted, kept })),
  );
}

/**
 * Merges the two changes of each pair into one, because both paths of a pair are the same file on
 * this machine: to delete one path would delete the other. If only `deleted` is in the base
 * version, the file is renamed to `kept`. If both are, the local file keeps its name.
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
