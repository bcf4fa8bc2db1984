import { knows, mark, type Mark, UNWRITTEN } from "./marks";

/**
 * The state of the model: what the service and the folders have, as marks by path. A path that is
 * not in a map was never written.
 */
export type MarksByPath = ReadonlyMap<string, Mark>;

export const markAt = (marks: MarksByPath, path: string): Mark => marks.get(path) ?? UNWRITTEN;

/** The last turn of a session whose state a folder or a version contains, by session. */
export type Records = ReadonlyMap<number, number>;

/**
 * A pushed version. `leftOut`: paths that the folder did not send. Their marks are the folder's,
 * but their contents are not in the version. `isMove`: the folder had moved when it was pushed, as
 * in `Folder.hasMoved`.
 */
export type Version = {
  number: number;
  marks: MarksByPath;
  leftOut: ReadonlySet<string>;
  isMove: boolean;
  records: Records;
};

/**
 * A turn. `parent` is 0 for the first turn. `ends`: its state at its end, by context, also of
 * contexts that only its ancestors used. `versions`: the version of each context that it used.
 */
export type Turn = {
  number: number;
  parent: number;
  isCompleted: boolean;
  ends: ReadonlyMap<string, MarksByPath>;
  versions: ReadonlyMap<string, number>;
};

/** A session and the contexts that its turns may use. */
export type Session = { contexts: readonly string[]; turns: readonly Turn[] };

/**
 * A folder of a user. `files`: what is on the disk. `known`: the state of each file that the folder
 * has in common with the service, from its last push or pull. `version`: the version in its note, 0
 * if it was never pushed or pulled. `excludeRules`: the ignore rules that only this folder has.
 * `unnoted`: the version of its last push if the command was killed before it noted it, else 0.
 * `skipped`: files of that version that the pull skipped, with what the folder had instead.
 * `hasMoved`: since its last push, a pull has taken files back to
 * an earlier state, or to that of another branch.
 */
export type Folder = {
  context: string;
  files: Readonly<Record<string, string>>;
  excludeRules: string | null;
  unnoted: number;
  known: MarksByPath;
  version: number;
  skipped: ReadonlyMap<string, string | null>;
  hasMoved: boolean;
  records: Records;
};

export type State = {
  contexts: ReadonlyMap<string, readonly Version[]>;
  sessions: readonly Session[];
  folders: readonly Folder[];
};

export const turnOf = (session: Session | undefined, number: number): Turn | undefined =>
  session?.turns.find((turn) => turn.number === number);

/** Whether a turn is another turn or one of its descendants. 0 is the parent of first turns. */
export function descendsFrom(session: Session, later: number, earlier: number): boolean {
  for (let number = later; number !== 0; number = turnOf(session, number)?.parent ?? 0)
    if (number === earlier) return true;
  return false;
}

/** The records of two sources together: of two turns of one branch, the later one counts. */
export function mergedRecords(
  sessions: readonly Session[],
  own: Records,
  incoming: Records,
): Records {
  const merged = new Map(own);
  for (const [index, turn] of incoming) {
    const [session, present] = [sessions[index], own.get(index)];
    const isOlder = session && present !== undefined && descendsFrom(session, present, turn);
    if (!isOlder) merged.set(index, turn);
  }
  return merged;
}

/** The files that these marks describe, without some paths. */
export const filesOf = (
  marks: MarksByPath,
  without: ReadonlySet<string> = new Set(),
): Record<string, string> =>
  Object.fromEntries(
    [...marks].flatMap(([path, { contents }]) =>
      contents === null || without.has(path) ? [] : [[path, contents] as const],
    ),
  );

/**
 * The state of a file in the newest version, if a version that moved back counts as a change of the
 * versions before it. Without such a version, an older state in a version means that the folder
 * never received the newer one, for example because its pull left the file out.
 */
export function replacing(latest: Mark, path: string, versions: readonly Version[]): Mark {
  if (!versions.some(({ isMove }) => isMove)) return latest;
  const earlier = versions.map(({ marks }) => markAt(marks, path));
  return earlier.every((one) => knows(latest, one))
    ? latest
    : mark(latest.contents, latest, ...earlier);
}
