import type { IncludedTurn } from "../../../src/protocol/api/contexts";
import type { PinnedContext } from "../../../src/protocol/events";
import { decodeManifest, encodeManifest } from "../../../src/workspace/manifest";
import { EMPTY_TREE } from "../../../src/workspace/tree";
import type { TreeChanges } from "../../../src/workspace/types";
import { STORE } from "../../shared/object-limits";
import { chunks } from "../log/chunks";
import type { Sql } from "../object-storage";
import type { ContextChanges } from "./context-changes";

/**
 * The state of a context at the start or at the end of a turn: a version, and the whole difference
 * from the version.
 */
export type ContextState = {
  context: string;
  /** Id of the pinned version. */
  version: string;
  /** The entry of this session in the record of the version; `null` if it had none. */
  entry: IncludedTurn | null;
  changes: TreeChanges;
  /**
   * Ids of the older versions that store contents of `changes`, by hash. Contents that are not
   * listed are stored in the session or in `version`.
   */
  sources: ReadonlyMap<string, string>;
};

/**
 * The contexts at the start of a turn. `states`: those that the turn uses. `carried`: numbers of
 * the latest ancestors that used another context, by its name. A later turn may use it again.
 */
export type TurnStart = {
  states: readonly ContextState[];
  carried: ReadonlyMap<string, number>;
};

/** Most turns of a branch whose versions are read to find the last contents of a file. */
const MAX_TRACED_TURNS = 100;

type CachedStart = { turn: number; start: TurnStart } | null;

/** Lookups in the session's log. */
type TurnLookups = {
  /** See `TurnEnds`. */
  completedWith: (turn: number) => number | null;
  parentOf: (turn: number) => number | null;
  /** The contexts in the `turn.started` of a turn. */
  pinnedIn: (turn: number) => readonly Pick<PinnedContext, "name" | "version">[];
};

/** The header of a stored state. `carried`: number of the turn that has the state. */
type Header = {
  entry?: IncludedTurn;
  sources?: Record<string, string>;
  carried?: number;
};

/**
 * The states of contexts at the start of each turn, as computed at its admission. The state at the
 * end is stored with the final text (`ContextChanges`). It counts only if the turn completed: a
 * failed or cancelled turn ends with its start state. Turns of older versions of the service have
 * no stored start; they started with the files of their pinned versions.
 */
export class ContextStates {
  readonly #sql: Sql;
  readonly #changes: ContextChanges;
  readonly #lookups: TurnLookups;
  /** The start of the newest turn. A cache: every tool call of a turn needs it. */
  #latest: CachedStart = null;
  /** The start of another turn that was read last. */
  #other: CachedStart = null;

  constructor(sql: Sql, changes: ContextChanges, lookups: TurnLookups) {
    this.#sql = sql;
    this.#changes = changes;
    this.#lookups = lookups;
  }

  /** The contexts at the start of a turn, sorted by name. */
  start(turn: number): TurnStart {
    const cached = [this.#latest, this.#other].find((one) => one?.turn === turn);
    if (cached) return cached.start;
    const start = this.#read(turn);
    if (turn > (this.#latest?.turn ?? 0)) this.#latest = { turn, start };
    else this.#other = { turn, start };
    return start;
  }

  /** A turn and its ancestors, the latest first. */
  lineOf(turn: number): readonly number[] {
    const line: number[] = [];
    for (let next: number | null = turn; next !== null; next = this.#lookups.parentOf(next))
      line.push(next);
    return line;
  }

  /**
   * Ids of the versions of a context that a turn and its ancestors used, the latest first. Versions
   * of only the latest `MAX_TRACED_TURNS` turns are found.
   */
  *versionsUsed(turn: number, context: string): Generator<string> {
    const line = this.lineOf(turn).slice(0, MAX_TRACED_TURNS);
    const found = new Set<string>();
    for (const one of line) {
      const version = this.#lookups.pinnedIn(one).find(({ name }) => name === context)?.version;
      if (version === undefined || found.has(version)) continue;
      found.add(version);
      yield version;
    }
  }

  /** Names of the contexts that a turn and its ancestors used, sorted. Reads no files. */
  namesIn(turn: number): readonly string[] {
    const query = "SELECT context FROM context_states WHERE turn = ? AND part = 0 ORDER BY context";
    const rows = this.#sql.exec<{ context: string }>(query, turn).toArray();
    const pinned = rows.length > 0 ? [] : this.#pinned(turn);
    return [...rows, ...pinned].map(({ context }) => context);
  }

  /** The contexts at the end of a turn, sorted by name. */
  end(turn: number): readonly ContextState[] {
    const { states } = this.start(turn);
    if (states.length === 0 || this.#lookups.completedWith(turn) === null) return states;
    const sets = new Map(this.#changes.of(turn).map((set) => [set.context, set]));
    return states.map((state) => {
      const changes = sets.get(state.context)?.changes ?? state.changes;
      return { ...state, changes, sources: sourcesOf(changes, state.sources) };
    });
  }

  /**
   * The state of a context at the end of a turn, or of the latest ancestor that used it; `null` if
   * no such turn used it.
   */
  endOf(turn: number, context: string): ContextState | null {
    const carriedFrom = this.start(turn).carried.get(context);
    const states = this.end(carriedFrom ?? turn);
    return states.find((state) => state.context === context) ?? null;
  }

  /** The contexts that a turn and its ancestors used, and the latest of them that used each. */
  usedUntil(turn: number): ReadonlyMap<string, number> {
    const { states, carried } = this.start(turn);
    return new Map([...carried, ...states.map(({ context }) => [context, turn] as const)]);
  }

  /**
   * Stores the start of a turn. To be called directly before the turn's first events are stored,
   * without an `await` between them, so that the platform stores both or neither.
   */
  begin(turn: number, { states, carried }: TurnStart): void {
    this.#latest = null;
    this.#other = null;
    this.#sql.exec("DELETE FROM context_states WHERE turn = ?", turn);
    for (const { context, version, entry, changes, sources } of states) {
      const header: Header = {
        ...(entry && { entry }),
        ...(sources.size > 0 && { sources: Object.fromEntries(sources) }),
      };
      this.#write(turn, context, [
        JSON.stringify(header),
        ...chunks(encodeManifest({ base: version, changes }), STORE.callChunkChars),
      ]);
    }
    for (const [context, from] of carried)
      this.#write(turn, context, [JSON.stringify({ carried: from })]);
  }

  #write(turn: number, context: string, parts: readonly string[]): void {
    for (const [part, body] of parts.entries())
      this.#sql.exec(
        "INSERT INTO context_states (turn, context, part, body) VALUES (?, ?, ?, ?)",
        ...[turn, context, part, body],
      );
  }

  #read(turn: number): TurnStart {
    const query = "SELECT context, body FROM context_states WHERE turn = ? ORDER BY context, part";
    const rows = this.#sql.exec<{ context: string; body: string }>(query, turn).toArray();
    if (rows.length === 0) return { states: this.#pinned(turn), carried: new Map() };
    const states: ContextState[] = [];
    const carried = new Map<string, number>();
    for (const [context, [first, ...parts]] of Map.groupBy(rows, (row) => row.context)) {
      const header: Header = JSON.parse(first?.body ?? "{}");
      if (header.carried === undefined)
        states.push(toState(context, header, parts.map(({ body }) => body).join("")));
      else carried.set(context, header.carried);
    }
    return { states, carried };
  }

  #pinned(turn: number): ContextState[] {
    return this.#lookups
      .pinnedIn(turn)
      .map(({ name, version }) => initialState(name, version, null))
      .sort((a, b) => (a.context < b.context ? -1 : 1));
  }
}

/** The state of a context whose files are those of a version. */
export const initialState = (
  context: string,
  version: string,
  entry: IncludedTurn | null,
): ContextState => ({ context, version, entry, changes: EMPTY_TREE, sources: new Map() });

function toState(context: string, { entry, sources }: Header, manifest: string): ContextState {
  const { base, changes } = decodeManifest(manifest);
  return {
    ...{ context, changes },
    version: base ?? "",
    entry: entry ?? null,
    sources: new Map(Object.entries(sources ?? {})),
  };
}

/** The sources of the contents that the changes name. */
function sourcesOf(
  changes: TreeChanges,
  sources: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  if (sources.size === 0) return sources;
  const hashes = new Set([...changes.values()].map((entry) => entry?.hash));
  return new Map([...sources].filter(([hash]) => hashes.has(hash)));
}
