import type { Basis, Staged } from "../src/workspace/agent-files";
import type { FileEntry } from "../src/workspace/types";
import type { RoundPlace } from "./call-store";

type ChangeRow = { path: string; hash: string | null; size: number; executable: number };
type Mark = "read" | "foreign" | "directory";
type MarkRow = { path: string; mark: Mark };

/** What is known of a round's files beside their contents, by path as the agent sees it. */
export type Marks = Pick<Basis, "read" | "own" | "directories">;

type Round = { changes: Map<string, FileEntry | null>; marks: Map<string, Mark> };

const OF_ROUND = "turn = ? AND attempt = ? AND agent = ? AND round = ?";
const WORKSPACE = "/workspace/";
const PEERS = "/peers/";

/**
 * What agents did in their workspaces, by the round that did it. On disk it is rows of that round, so a round that begins needs
 * none; memory is a cache. A path is the agent's own if it wrote it in the round, unless what lies there now came from elsewhere.
 */
export class RoundChanges {
  readonly #sql: SqlStorage;
  readonly #rounds = new Map<string, Round>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  of(place: RoundPlace): ReadonlyMap<string, FileEntry | null> {
    return this.#of(place).changes;
  }

  marks(place: RoundPlace): Marks {
    const { changes, marks } = this.#of(place);
    const marked = (wanted: Mark): Set<string> => new Set([...marks].flatMap(([path, mark]) => (mark === wanted ? [path] : [])));
    const written = [...changes].flatMap(([path, entry]) => (entry === null ? [] : [WORKSPACE + path]));
    return {
      read: marked("read"),
      own: new Set(written.filter((path) => !marks.has(path))),
      directories: marked("directory"),
    };
  }

  /** Inside the transaction of the call's end. */
  write(place: RoundPlace, staged: Staged): void {
    const { changes, marks } = this.#of(place);
    const key = [place.turn, place.attempt, place.agent, place.round];
    for (const [path, entry] of staged.workspace) {
      const columns = [entry?.hash ?? null, entry?.size ?? 0, entry?.executable ? 1 : 0];
      this.#sql.exec("INSERT OR REPLACE INTO file_changes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ...key, path, ...columns);
      changes.set(path, entry);
    }
    const next = marksAfter(marks, staged);
    for (const path of marks.keys()) {
      if (!next.has(path)) this.#sql.exec(`DELETE FROM file_marks WHERE ${OF_ROUND} AND path = ?`, ...key, path);
    }
    for (const [path, mark] of next) {
      if (marks.get(path) !== mark)
        this.#sql.exec("INSERT OR REPLACE INTO file_marks VALUES (?, ?, ?, ?, ?, ?)", ...key, path, mark);
    }
    this.#rounds.set(keyOf(place), { changes, marks: next });
  }

  /** A turn is over: nobody will ask for its working trees again. Inside the transaction of its end. */
  forget(turn: number): void {
    for (const table of ["file_changes", "file_marks"]) this.#sql.exec(`DELETE FROM ${table} WHERE turn = ?`, turn);
    this.#rounds.clear();
  }

  #of(place: RoundPlace): Round {
    const known = this.#rounds.get(keyOf(place));
    if (known) return known;
    const key = [place.turn, place.attempt, place.agent, place.round];
    const changes = this.#sql.exec<ChangeRow>(
      `SELECT path, hash, size, executable FROM file_changes WHERE ${OF_ROUND} ORDER BY path`,
      ...key,
    );
    const marks = this.#sql.exec<MarkRow>(`SELECT path, mark FROM file_marks WHERE ${OF_ROUND}`, ...key);
    const round = {
      changes: new Map(changes.toArray().map((row) => [row.path, toEntry(row)])),
      marks: new Map(marks.toArray().map(({ path, mark }) => [path, mark])),
    };
    this.#rounds.set(keyOf(place), round);
    return round;
  }
}

const keyOf = ({ turn, attempt, agent, round }: RoundPlace): string => `${turn} ${attempt} ${agent} ${round}`;

const toEntry = ({ hash, size, executable }: ChangeRow): FileEntry | null =>
  hash === null ? null : { hash, size, ...(executable ? { executable: true } : {}) };

/** What is the agent's own needs no mark; peers' files can never be deleted, so nobody asks whether they were read. */
function marksAfter(before: ReadonlyMap<string, Mark>, { read, own, foreign, directories }: Staged): Map<string, Mark> {
  const next = new Map([...before].filter(([, mark]) => mark !== "directory"));
  for (const path of read) if (!path.startsWith(PEERS) && !own.includes(path)) next.set(path, "read");
  for (const path of own) next.delete(path);
  for (const path of foreign) next.set(path, "foreign");
  for (const path of directories) next.set(path, "directory");
  return next;
}
