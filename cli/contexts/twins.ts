import type { Change } from "./three-way";

/** Two paths that differ in case alone: `gone` was deleted there, `stays` is there. To some disks they are one file. */
export type Twins = { gone: string; stays: string };

/** As disks compare names that tell no case apart: in capitals first, since some small letters share theirs. */
const folded = (path: string): string => path.toUpperCase().toLowerCase();

/** The deleted files that may be the same here as one that stays or arrives. */
export function twinsAmong(changes: readonly Change[]): Twins[] {
  const staying = new Map<string, string[]>();
  for (const { path, theirs } of changes) {
    if (theirs === null) continue;
    const key = folded(path);
    staying.set(key, [...(staying.get(key) ?? []), path]);
  }
  const deleted = changes.filter(({ base, theirs }) => base !== null && theirs === null);
  return deleted.flatMap(({ path: gone }) =>
    (staying.get(folded(gone)) ?? []).map((stays) => ({ gone, stays })),
  );
}

/**
 * The changes as they are where these twins are one file each: it is not deleted. One that stood there only under its old name is
 * compared as the new one, and renamed; one that stood there under both is what stays.
 */
export function mergeTwins(changes: readonly Change[], twins: readonly Twins[]): Change[] {
  const merged = new Map(changes.map((change) => [change.path, change]));
  for (const { gone, stays } of twins) {
    const [old, kept] = [merged.get(gone), merged.get(stays)];
    if (!old || !kept) continue;
    merged.delete(gone);
    if (kept.base === null) merged.set(stays, { ...kept, base: old.base, was: gone });
  }
  return [...merged.values()];
}
