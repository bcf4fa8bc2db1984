import { identityOf, inspect, refusalOf } from "./directory";
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
  const sameFiles = await sameFileVariants(directory, caseGroupsIn(changes));
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
  groups: readonly CaseGroup[],
): Promise<CaseVariants[]> {
  const identities = new Map<string, string>();
  for (const path of groups.flatMap(({ deleted, kept }) => [...deleted, ...kept])) {
    const identity = refusalOf(path) === null ? await identityOf(directory, path) : null;
    if (identity !== null) identities.set(path, identity);
  }
  return sameFilesIn(groups, (path) => identities.get(path) ?? null);
}

/**
 * Two paths that differ only in case: `deleted` was deleted at the service, `kept` still exists
 * there. On a case-insensitive disk, both paths are the same file.
 */
export type CaseVariants = { deleted: string; kept: string };
/** All paths that are equal without case. */
export type CaseGroup = { deleted: string[]; kept: string[] };

/**
 * Folds case as a case-insensitive disk does when it compares names. Converts to upper case first:
 * several lower-case letters can have the same upper-case letter.
 */
const foldCase = (path: string): string => path.toUpperCase().toLowerCase();

/** The deleted and the existing paths that may be the same files on this machine. */
export function caseGroupsIn(changes: readonly Change[]): CaseGroup[] {
  const groups = new Map<string, CaseGroup>();
  for (const { path, base, theirs } of changes) {
    if (base === null && theirs === null) continue;
    const key = foldCase(path);
    const group = groups.get(key) ?? { deleted: [], kept: [] };
    groups.set(key, group);
    (theirs === null ? group.deleted : group.kept).push(path);
  }
  return [...groups.values()].filter(({ deleted, kept }) => deleted.length > 0 && kept.length > 0);
}

/**
 * For each deleted path, the first existing path that is the same file. `identityOf`: equal for
 * paths of the same file; `null` if there is no file.
 */
export const sameFilesIn = (
  groups: readonly CaseGroup[],
  identityOf: (path: string) => string | null,
): CaseVariants[] =>
  groups.flatMap(({ deleted, kept }) => {
    const byIdentity = new Map<string, string>();
    for (const path of kept.toReversed()) {
      const identity = identityOf(path);
      if (identity !== null) byIdentity.set(identity, path);
    }
    return deleted.flatMap((path) => {
      const found = byIdentity.get(identityOf(path) ?? "");
      return found === undefined ? [] : [{ deleted: path, kept: found }];
    });
  });

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
