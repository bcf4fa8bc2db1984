import { decodeManifest, encodeManifest, type Manifest } from "../../../src/workspace/manifest";
import { applyChanges, diffTrees, EMPTY_TREE, treeStats } from "../../../src/workspace/tree";
import type { Tree, TreeChanges } from "../../../src/workspace/types";
import { STORE } from "../../shared/object-limits";
import { chunks } from "../log/chunks";
import type { Sql } from "../object-storage";

/**
 * Identifies a snapshot. `label`: the label of an answer, or of a final text such as
 * `agent2.final`.
 */
export type SnapshotPlace = { turn: number; attempt: number; label: string };

/**
 * A frozen tree. `files` and `bytes`: the size of the tree. `manifests`: the number of manifests
 * that the tree was built from.
 */
export type Snapshot = {
  place: SnapshotPlace;
  tree: Tree;
  files: number;
  bytes: number;
  manifests: number;
};

/**
 * A snapshot as stored: the differences from `parent`, which is the tree that its turn began with.
 * `parent` is `null` if the turn began without files.
 */
type FrozenChanges = {
  parent: SnapshotPlace | null;
  changes: TreeChanges;
  files: number;
  bytes: number;
};

/** Looks up facts about a session's turns in its log. */
export type TurnEnds = {
  /** The number of the turn that this turn continues; `null` for none. */
  parentOf: (turn: number) => number | null;
  /**
   * The number of the attempt whose final text completed the turn; `null` if the turn runs or did
   * not complete.
   */
  completedWith: (turn: number) => number | null;
};

type Row = { files: number; bytes: number; body: string };

/** Trees in the cache. Few are enough, because the tool calls of a team read the same trees. */
const MAX_CACHED_TREES = 64;
/**
 * Maximum number of manifests that a tree is built from. A result that would need more is stored
 * with all its files, because later turns build on it.
 */
const MOST_MANIFESTS = 8;
/** The `base` of a snapshot that stores only differences from the tree that its turn began with. */
const TURN_BASE = "turn";

/**
 * The files of answers and final texts. A snapshot never changes. It usually stores only the
 * differences from the tree that its turn began with.
 */
export class SnapshotStore {
  readonly #sql: Sql;
  readonly #parentOf: TurnEnds["parentOf"];
  readonly #completedWith: TurnEnds["completedWith"];
  readonly #kept = new Map<string, Snapshot>();

  constructor(sql: Sql, { parentOf, completedWith }: TurnEnds) {
    this.#sql = sql;
    this.#parentOf = parentOf;
    this.#completedWith = completedWith;
  }

  /** A snapshot; `null` if there is none. */
  read(place: SnapshotPlace): Snapshot | null {
    const key = keyOf(place);
    const snapshot = this.#kept.get(key) ?? this.#load(place);
    if (!snapshot) return null;
    this.#kept.delete(key);
    this.#kept.set(key, snapshot);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_CACHED_TREES && oldest !== undefined) this.#kept.delete(oldest);
    return snapshot;
  }

  /**
   * The result of a turn: the files of the final text that completed the turn; `null` if there are
   * no such files. The files of a presentation are no result if the presentation was rejected, or
   * if the turn was cancelled or failed before the presentation was confirmed.
   */
  resultOf(turn: number): Snapshot | null {
    const place = this.#resultPlace(turn);
    return place && this.read(place);
  }

  #resultPlace(turn: number): SnapshotPlace | null {
    const attempt = this.#completedWith(turn);
    if (attempt === null) return null;
    const query =
      "SELECT label FROM snapshots WHERE turn = ? AND attempt = ? AND part = 0 AND label LIKE '%.final'";
    const [final] = this.#sql.exec<{ label: string }>(query, turn, attempt).toArray();
    return final ? { turn, attempt, ...final } : null;
  }

  /**
   * The tree that a turn begins with: the result of the turn that it continues. If that turn has no
   * result, the tree that that turn began with.
   */
  baseOf(turn: number): Tree {
    return this.#startOf(turn)?.tree ?? EMPTY_TREE;
  }

  /** The tree that a later turn begins with if it continues this turn. */
  baseOfNext(turn: number): Tree {
    return this.resultOf(turn)?.tree ?? this.baseOf(turn);
  }

  /**
   * The same tree as `baseOfNext`. It does not stay in the cache, and neither do the trees that it
   * builds on: agents read many turns, each once.
   */
  treeAfter(turn: number): Tree {
    const changes: TreeChanges[] = [];
    let base: Tree = EMPTY_TREE;
    let place = this.#resultPlace(turn) ?? this.#startPlace(turn);
    while (place) {
      const cached = this.#kept.get(keyOf(place));
      const stored = cached ? null : this.#stored(place);
      if (cached) base = cached.tree;
      if (!stored) break;
      changes.push(stored.manifest.changes);
      place = stored.manifest.base === null ? null : this.#startPlace(place.turn);
    }
    return changes.reduceRight(applyChanges, base);
  }

  /** A snapshot as stored, without unchanged files; `null` if there is none. */
  frozen(place: SnapshotPlace): FrozenChanges | null {
    const stored = this.#stored(place);
    if (!stored) return null;
    const { manifest, files, bytes } = stored;
    const parent = manifest.base === null ? null : (this.#startOf(place.turn)?.place ?? null);
    return { parent, changes: manifest.changes, files, bytes };
  }

  /** The result that a turn continues; `null` if there is none. */
  #startOf(turn: number): Snapshot | null {
    const place = this.#startPlace(turn);
    return place && this.read(place);
  }

  #startPlace(turn: number): SnapshotPlace | null {
    for (let parent = this.#parentOf(turn); parent !== null; parent = this.#parentOf(parent)) {
      const result = this.#resultPlace(parent);
      if (result) return result;
    }
    return null;
  }

  /**
   * Stores a snapshot. No effect if it is already stored. To be called inside the transaction of
   * the answer.
   */
  write(place: SnapshotPlace, tree: Tree): void {
    const { turn, attempt, label } = place;
    const { files, bytes } = treeStats(tree);
    const manifest = encodeManifest(this.#manifestOf(place, tree));
    const parts = [...chunks(manifest, STORE.callChunkChars)];
    for (const [part, body] of parts.entries()) {
      this.#sql.exec(
        "INSERT INTO snapshots (turn, attempt, label, part, files, bytes, body) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        ...[turn, attempt, label, part, files, bytes, body],
      );
    }
  }

  #manifestOf({ turn, label }: SnapshotPlace, tree: Tree): Manifest {
    const start = this.#startOf(turn);
    const storesAllFiles = label.endsWith(".final") && manifestsOn(start) >= MOST_MANIFESTS;
    return storesAllFiles
      ? { base: null, changes: tree }
      : { base: TURN_BASE, changes: diffTrees(start?.tree ?? EMPTY_TREE, tree) };
  }

  #load(place: SnapshotPlace): Snapshot | null {
    const stored = this.#stored(place);
    if (!stored) return null;
    const { manifest, files, bytes } = stored;
    const start = manifest.base === null ? null : this.#startOf(place.turn);
    const tree = applyChanges(start?.tree ?? EMPTY_TREE, manifest.changes);
    return { place, tree, files, bytes, manifests: manifestsOn(start) };
  }

  #stored({
    turn,
    attempt,
    label,
  }: SnapshotPlace): { manifest: Manifest; files: number; bytes: number } | null {
    const query =
      "SELECT files, bytes, body FROM snapshots WHERE turn = ? AND attempt = ? AND label = ? ORDER BY part";
    const rows = this.#sql.exec<Row>(query, turn, attempt, label).toArray();
    const [first] = rows;
    if (!first) return null;
    const manifest = decodeManifest(rows.map(({ body }) => body).join(""));
    return { manifest, files: first.files, bytes: first.bytes };
  }
}

const keyOf = ({ turn, attempt, label }: SnapshotPlace): string => `${turn} ${attempt} ${label}`;

/** Number of manifests of a tree that builds on `start`; `null` if it builds on no other tree. */
const manifestsOn = (start: Snapshot | null): number => (start?.manifests ?? 0) + 1;
