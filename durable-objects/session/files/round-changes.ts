import type { Basis, StagedChanges } from "../../../src/workspace/agent-files";
import { isHandedOver } from "../../../src/workspace/workspace-facts";
import { EMPTY_TREE, mergeChanges, sameEntry } from "../../../src/workspace/tree";
import type { FileEntry, Tree, TreeChanges } from "../../../src/workspace/types";
import type { RoundPlace } from "../calls/call-store";
import type { Sql } from "../object-storage";

type ChangeRow = { path: string; hash: string | null; size: number; executable: number };
type Mark = "read" | "foreign" | "directory";
type MarkRow = { path: string; mark: Mark };

/**
 * Facts about a round's files besides their contents: paths that the agent has read, paths that are
 * its own, and empty directories. Paths are as the agent sees them.
 */
export type Marks = Pick<Basis, "read" | "own" | "directories">;

type Changes = Map<string, FileEntry | null>;
type Round = {
  changes: Changes;
  contexts: ReadonlyMap<string, TreeChanges>;
  marks: Map<string, Mark>;
};

/**
 * The round's changes to the contexts that its agent may change, by context name. An unchanged
 * context has an empty entry.
 */
export type ContextEdits = ReadonlyMap<string, TreeChanges>;

const IS_OF_ROUND = "turn = ? AND attempt = ? AND agent = ? AND round = ?";
const DELETE_CHANGE = `DELETE FROM file_changes WHERE ${IS_OF_ROUND} AND path = ?`;
const WORKSPACE_PREFIX = "/workspace/";
const CONTEXT_PATH = /^\/contexts\/([^/]+)\/(.+)$/;

/**
 * The changes of agents to their workspaces and to contexts, by round. Each change is a row, so a
 * round without changes has no rows; the maps in memory are a cache. A path is the agent's own if
 * the agent wrote it in this round, unless unknown contents were moved there afterwards.
 */
export class RoundChanges {
  readonly #sql: Sql;
  readonly #rounds = new Map<string, Round>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * The current entry of each workspace path that the round wrote; `null` for a removed path.
   * Includes entries that are equal to those at the round's start.
   */
  of(place: RoundPlace): ReadonlyMap<string, FileEntry | null> {
    return this.#of(place).changes;
  }

  /** The round's changes to a context. */
  ofContext(place: RoundPlace, name: string): TreeChanges {
    return this.#of(place).contexts.get(name) ?? EMPTY_TREE;
  }

  /**
   * The round's changes to the contexts that its agent may change, including the staged changes of
   * a call. `trees`: the trees of the pinned versions, by context name.
   */
  editsWith(
    place: RoundPlace,
    staged: StagedChanges,
    trees: ReadonlyMap<string, Tree>,
  ): ContextEdits {
    const edits = [...trees].map(([name, tree]): [string, TreeChanges] => [
      name,
      mergeChanges(tree, this.ofContext(place, name), staged.contexts.get(name) ?? EMPTY_TREE),
    ]);
    return new Map(edits);
  }

  /** Paths that the round has read or written, and its empty directories. */
  marks(place: RoundPlace): Marks {
    const { changes, contexts, marks } = this.#of(place);
    const pathsWith = (wantedMark: Mark): Set<string> =>
      new Set([...marks].flatMap(([path, mark]) => (mark === wantedMark ? [path] : [])));
    const writtenPaths = [...namedChanges(changes, contexts)].flatMap(([path, entry]) =>
      entry === null ? [] : [path],
    );
    return {
      read: pathsWith("read"),
      own: new Set(writtenPaths.filter((path) => !marks.has(path))),
      directories: pathsWith("directory"),
    };
  }

  /**
   * Stores the changes of a call. To be called inside the transaction of the call's end. `edits`
   * and `isKnown`: see `RoundEdit`.
   */
  write(
    place: RoundPlace,
    staged: StagedChanges,
    { edits, isKnown }: { edits: ContextEdits; isKnown: (path: string) => boolean },
  ): void {
    const { changes, contexts, marks } = this.#of(place);
    const key = [place.turn, place.attempt, place.agent, place.round];
    for (const [path, entry] of staged.workspace) {
      if (entry === null && !isKnown(path) && isUnneeded(path, changes)) this.#drop(place, path);
      else this.#put(place, path, entry);
    }
    for (const [name, after] of edits)
      this.#writeContext(place, name, { before: contexts.get(name) ?? EMPTY_TREE, after });
    const next = marksAfter(marks, staged, { changes, edits });
    for (const path of marks.keys()) {
      if (!next.has(path))
        this.#sql.exec(`DELETE FROM file_marks WHERE ${IS_OF_ROUND} AND path = ?`, ...key, path);
    }
    for (const [path, mark] of next) {
      if (marks.get(path) !== mark)
        this.#sql.exec(
          "INSERT OR REPLACE INTO file_marks VALUES (?, ?, ?, ?, ?, ?)",
          ...key,
          path,
          mark,
        );
    }
    this.#rounds.set(keyOf(place), {
      changes,
      contexts: new Map([...contexts, ...edits]),
      marks: next,
    });
  }

  /**
   * Stores the changes to a context. A file that is equal to its pinned version again has no row.
   */
  #writeContext(
    place: RoundPlace,
    name: string,
    { before, after }: { before: TreeChanges; after: TreeChanges },
  ): void {
    const key = [place.turn, place.attempt, place.agent, place.round];
    for (const path of before.keys()) {
      if (after.has(path)) continue;
      this.#sql.exec(DELETE_CHANGE, ...key, inContext(name, path));
    }
    for (const [path, entry] of after) {
      const entryBefore = before.get(path);
      if (entryBefore === undefined || !sameEntry(entryBefore, entry))
        this.#store(place, inContext(name, path), entry);
    }
  }

  #put(place: RoundPlace, path: string, entry: FileEntry | null): void {
    this.#store(place, path, entry);
    this.#of(place).changes.set(path, entry);
  }

  #drop(place: RoundPlace, path: string): void {
    if (!this.#of(place).changes.delete(path)) return;
    this.#sql.exec(DELETE_CHANGE, place.turn, place.attempt, place.agent, place.round, path);
  }

  #store({ turn, attempt, agent, round }: RoundPlace, path: string, entry: FileEntry | null): void {
    const columns = [entry?.hash ?? null, entry?.size ?? 0, entry?.executable ? 1 : 0];
    const sql = "INSERT OR REPLACE INTO file_changes VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    this.#sql.exec(sql, turn, attempt, agent, round, path, ...columns);
  }

  /** Deletes the rows of a turn that has ended. To be called inside the transaction of its end. */
  forget(turn: number): void {
    for (const table of ["file_changes", "file_marks"])
      this.#sql.exec(`DELETE FROM ${table} WHERE turn = ?`, turn);
    this.#rounds.clear();
  }

  #of(place: RoundPlace): Round {
    const known = this.#rounds.get(keyOf(place));
    if (known) return known;
    const key = [place.turn, place.attempt, place.agent, place.round];
    const changes = this.#sql.exec<ChangeRow>(
      `SELECT path, hash, size, executable FROM file_changes WHERE ${IS_OF_ROUND} ORDER BY path`,
      ...key,
    );
    const marks = this.#sql.exec<MarkRow>(
      `SELECT path, mark FROM file_marks WHERE ${IS_OF_ROUND}`,
      ...key,
    );
    const round = {
      ...splitRows(changes.toArray()),
      marks: new Map(marks.toArray().map(({ path, mark }) => [path, mark])),
    };
    this.#rounds.set(keyOf(place), round);
    return round;
  }
}

/**
 * Whether no record is needed for a file that the round created and removed. If the round has no
 * other change, the record is needed, because it shows that the round changed files.
 */
function isUnneeded(path: string, changes: ReadonlyMap<string, unknown>): boolean {
  if (!isHandedOver(path)) return true;
  for (const other of changes.keys()) if (other !== path && isHandedOver(other)) return true;
  return false;
}

const keyOf = ({ turn, attempt, agent, round }: RoundPlace): string =>
  `${turn} ${attempt} ${agent} ${round}`;

const toEntry = ({ hash, size, executable }: ChangeRow): FileEntry | null =>
  hash === null ? null : { hash, size, ...(executable ? { executable: true } : {}) };

const inContext = (name: string, path: string): string => `/contexts/${name}/${path}`;

/** Splits rows into changes of the workspace and changes of contexts. */
function splitRows(rows: readonly ChangeRow[]): Pick<Round, "changes" | "contexts"> {
  const changes: Changes = new Map();
  const contexts = new Map<string, Changes>();
  for (const row of rows) {
    const [, name, path] = CONTEXT_PATH.exec(row.path) ?? [];
    if (name === undefined || path === undefined) changes.set(row.path, toEntry(row));
    else
      contexts.set(
        name,
        (contexts.get(name) ?? new Map<string, FileEntry | null>()).set(path, toEntry(row)),
      );
  }
  return { changes, contexts };
}

/** Yields all changes with their paths as the agent sees them. */
function* namedChanges(
  changes: Changes,
  contexts: ContextEdits,
): Generator<[string, FileEntry | null]> {
  for (const [path, entry] of changes) yield [WORKSPACE_PREFIX + path, entry];
  for (const [name, edits] of contexts)
    for (const [path, entry] of edits) yield [inContext(name, path), entry];
}

type KnownChanges = { changes: ReadonlyMap<string, FileEntry | null>; edits: ContextEdits };

/**
 * The marks after a call. The agent's own files need no mark. A file that the agent wrote without
 * changing it is marked as read, because no change records that the agent knows its contents. Read
 * marks are needed only for files that the agent may delete.
 */
function marksAfter(
  before: ReadonlyMap<string, Mark>,
  staged: StagedChanges,
  { changes, edits }: KnownChanges,
): Map<string, Mark> {
  const { read, own, foreign, directories } = staged;
  const mayDelete = (path: string) =>
    path.startsWith(WORKSPACE_PREFIX) || edits.has(CONTEXT_PATH.exec(path)?.[1] ?? "");
  const changeOf = (path: string): FileEntry | null | undefined => {
    const [, name, pathInContext] = CONTEXT_PATH.exec(path) ?? [];
    return name === undefined || pathInContext === undefined
      ? changes.get(path.slice(WORKSPACE_PREFIX.length))
      : edits.get(name)?.get(pathInContext);
  };
  const next = new Map([...before].filter(([, mark]) => mark !== "directory"));
  for (const path of read) if (mayDelete(path) && !own.includes(path)) next.set(path, "read");
  for (const path of own) {
    if (changeOf(path) || !mayDelete(path)) next.delete(path);
    else next.set(path, "read");
  }
  for (const path of foreign) next.set(path, "foreign");
  for (const path of directories) next.set(path, "directory");
  return next;
}
