import { leftOutTest } from "./left-out-paths";
import { sameFile } from "./merge-trees";

/**
 * Most pulls that are traced back to find the common base of a merge. Each needs two trees in
 * memory. Beyond, the pulled turn alone is the base: it can report a conflict that is none.
 */
export const MAX_TRACED_PULLS = 8;

type Entry = { hash: string; executable?: boolean };
type Entries<T extends Entry> = ReadonlyMap<string, T>;

/**
 * Two trees that both sides of a merge contain: a version that the user pushed, and the state of a
 * turn that the user pulled later. `origin`: what these two trees have in common. `leftOut`: paths
 * that the version lacks although its user has not deleted them, and folders of such paths.
 */
export type CommonTrees<T extends Entry> = {
  version: Entries<T>;
  turn: Entries<T>;
  origin: Entries<T>;
  leftOut: ReadonlySet<string>;
};

/** `isPushed`: whether the user changed a file between the origin and the version. */
export type JoinedBase<T extends Entry> = {
  base: Map<string, T>;
  isPushed: (path: string) => boolean;
};

/**
 * The latest state that both sides have of each file. What the user pushed between the origin and
 * the version is newer than what the turn has of it: the pull kept it. Every other file is as the
 * turn left it.
 */
export function joinedBase<T extends Entry>({
  version,
  turn,
  origin,
  leftOut,
}: CommonTrees<T>): JoinedBase<T> {
  const isLeftOut = leftOutTest(leftOut, version);
  const isPushed = (path: string) =>
    !isLeftOut(path) && !sameFile(version.get(path), origin.get(path));
  const base = new Map<string, T>();
  for (const path of new Set([...version.keys(), ...turn.keys()])) {
    const entry = (isPushed(path) ? version : turn).get(path);
    if (entry) base.set(path, entry);
  }
  return { base, isPushed };
}
