import { decodeManifest, encodeManifest, type Manifest } from "../src/workspace/manifest";
import { applyChanges, diffTrees, EMPTY_TREE, treeStats } from "../src/workspace/tree";
import type { Tree } from "../src/workspace/types";
import { STORE } from "./limits";
import { pieces } from "./pieces";

/** Whose files: of an answer, or of a final such as `agent2.final`. */
export type SnapshotPlace = { turn: number; attempt: number; label: string };

/** A frozen tree, and what it comes to. */
export type Snapshot = { place: SnapshotPlace; tree: Tree; files: number; bytes: number };

type Row = { files: number; bytes: number; body: string };

/** The latest trees asked for are kept, since every tool call of a team reads the same few. */
const KEPT = 64;
/** Every so many turns the result is written whole, so that no tree is put together from more. */
const TURNS_PER_WHOLE = 8;
/** What a snapshot starts from, if not from nothing: the tree its turn began with. */
const TURN_BASE = "turn";

/**
 * The files of answers and finals. A snapshot never changes, and costs what differs from the tree its turn began with.
 */
export class SnapshotStore {
  readonly #sql: SqlStorage;
  readonly #parentOf: (turn: number) => number | null;
  readonly #kept = new Map<string, Snapshot>();

  /** `parentOf`: the turn that a turn goes on from; null for the first. */
  constructor(sql: SqlStorage, parentOf: (turn: number) => number | null) {
    this.#sql = sql;
    this.#parentOf = parentOf;
  }

  read(place: SnapshotPlace): Snapshot | null {
    const key = `${place.turn} ${place.attempt} ${place.label}`;
    const snapshot = this.#kept.get(key) ?? this.#load(place);
    if (!snapshot) return null;
    this.#kept.delete(key);
    this.#kept.set(key, snapshot);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return snapshot;
  }

  /** The result of a turn: the files of its last final; null if it has none. */
  resultOf(turn: number): Snapshot | null {
    const query =
      "SELECT attempt, label FROM snapshots WHERE turn = ? AND part = 0 AND label LIKE '%.final' ORDER BY attempt DESC LIMIT 1";
    const [final] = this.#sql.exec<{ attempt: number; label: string }>(query, turn).toArray();
    return final ? this.read({ turn, ...final }) : null;
  }

  /** The tree a turn begins with: the result of the turn it goes on from, or what that one began with if it has none. */
  baseOf(turn: number): Tree {
    for (let parent = this.#parentOf(turn); parent !== null; parent = this.#parentOf(parent)) {
      const result = this.resultOf(parent);
      if (result) return result.tree;
    }
    return EMPTY_TREE;
  }

  /** Inside the transaction of the answer. Written again, as after a fault, it stays as it was. */
  write(place: SnapshotPlace, tree: Tree): void {
    const { turn, attempt, label } = place;
    const { files, bytes } = treeStats(tree);
    for (const [part, body] of [...pieces(encodeManifest(this.#manifestOf(place, tree)), STORE.callChunkChars)].entries()) {
      this.#sql.exec(
        "INSERT INTO snapshots (turn, attempt, label, part, files, bytes, body) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        ...[turn, attempt, label, part, files, bytes, body],
      );
    }
  }

  #manifestOf({ turn, label }: SnapshotPlace, tree: Tree): Manifest {
    const isWhole = label.endsWith(".final") && turn % TURNS_PER_WHOLE === 0;
    return isWhole ? { base: null, changes: tree } : { base: TURN_BASE, changes: diffTrees(this.baseOf(turn), tree) };
  }

  #load(place: SnapshotPlace): Snapshot | null {
    const { turn, attempt, label } = place;
    const query = "SELECT files, bytes, body FROM snapshots WHERE turn = ? AND attempt = ? AND label = ? ORDER BY part";
    const rows = this.#sql.exec<Row>(query, turn, attempt, label).toArray();
    const [first] = rows;
    if (!first) return null;
    const { base, changes } = decodeManifest(rows.map(({ body }) => body).join(""));
    const tree = applyChanges(base === null ? EMPTY_TREE : this.baseOf(turn), changes);
    return { place, tree, files: first.files, bytes: first.bytes };
  }
}
