import type { TurnState } from "../../../src/coordination";
import {
  type EarlierTurns,
  MOST_LOADED_TURNS,
  turnName,
  turnNumber,
} from "../../../src/workspace/earlier-turns";
import { contextsOf } from "../../../src/workspace/mounts";
import { applyChanges } from "../../../src/workspace/tree";
import { FileError, type Tree, type TurnTree } from "../../../src/workspace/types";
import type { ChangeSet, ContextChanges } from "./context-changes";
import type { Pin, SessionContexts } from "./session-contexts";
import type { SnapshotStore } from "./snapshot-store";

type Options = {
  snapshots: Pick<SnapshotStore, "treeAfter">;
  contexts: Pick<SessionContexts, "tree" | "has" | "loadOlder">;
  contextChanges: Pick<ContextChanges, "of">;
  /** See `TurnEnds`. */
  parentOf: (turn: number) => number | null;
};

/** The running turn: the turns that it continues, and what agents have read of them. */
type Ancestors = {
  turn: number;
  /** The oldest first. */
  numbers: ReadonlySet<number>;
  contextNames: Map<number, readonly string[]>;
  /** The versions of contexts whose files agents have read below `/turns`. */
  usedPins: Map<string, Pin>;
};

/** `pin`: the version of a context that the tree is based on; `null` for a turn's result. */
type LoadedTree = { tree: Tree; pin: Pin | null };

/**
 * The trees that agents see below `/turns`: the results of the turns that the running turn
 * continues, and their states of contexts. A tree is loaded when it is read. At most
 * `MOST_LOADED_TURNS` trees stay loaded, for all agents together.
 */
export class TurnTrees {
  readonly #options: Options;
  /** Loaded trees. The tree that was used first is first. */
  readonly #loaded = new Map<string, LoadedTree>();
  #ancestors: Ancestors | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The earlier turns that an agent sees; `null` in a first turn. */
  of(turn: TurnState, agent: number): EarlierTurns | null {
    const ancestors = this.#ancestorsOf(turn.number);
    if (ancestors.numbers.size === 0) return null;
    const visible = new Set(contextsOf(turn, agent).map(({ name }) => name));
    return {
      has: (name) => ancestors.numbers.has(turnNumber(name) ?? 0),
      keys: () => [...ancestors.numbers].map(turnName),
      contextsOf: (name) =>
        this.#contextNames(ancestors, turnNumber(name) ?? 0).filter((one) => visible.has(one)),
      load: (tree) => this.#load(ancestors, tree),
      tree: (tree) => this.#tree(tree),
    };
  }

  /**
   * Loads the version of a context that has these contents, if an agent has read it below `/turns`
   * in this turn. Throws `FileError` if a version cannot be read now.
   */
  async loadVersionWith(hash: string): Promise<void> {
    for (const pin of this.#ancestors?.usedPins.values() ?? []) {
      if (this.#options.contexts.has(hash)) return;
      await this.#options.contexts.loadOlder(pin);
    }
  }

  #ancestorsOf(turn: number): Ancestors {
    if (this.#ancestors?.turn === turn) return this.#ancestors;
    const numbers: number[] = [];
    const { parentOf } = this.#options;
    for (let parent = parentOf(turn); parent !== null; parent = parentOf(parent))
      numbers.unshift(parent);
    this.#loaded.clear();
    this.#ancestors = {
      turn,
      numbers: new Set(numbers),
      contextNames: new Map(),
      usedPins: new Map(),
    };
    return this.#ancestors;
  }

  #contextNames({ contextNames }: Ancestors, turn: number): readonly string[] {
    const names = contextNames.get(turn) ?? this.#statesOf(turn).map(({ context }) => context);
    contextNames.set(turn, names);
    return names;
  }

  async #load({ usedPins }: Ancestors, place: TurnTree): Promise<void> {
    const loaded = this.#loaded.get(keyOf(place));
    const pin = loaded ? loaded.pin : pinOf(this.#stateOf(place));
    if (pin) {
      usedPins.set(`${pin.name} ${pin.version}`, pin);
      // Also if the tree is loaded, because contents are read from the version.
      await this.#options.contexts.loadOlder(pin);
    }
    this.#tree(place);
  }

  #tree(place: TurnTree): Tree {
    const key = keyOf(place);
    const loaded = this.#loaded.get(key) ?? this.#build(place);
    this.#loaded.delete(key);
    this.#loaded.set(key, loaded);
    const [oldest] = this.#loaded.keys();
    if (this.#loaded.size > MOST_LOADED_TURNS && oldest !== undefined) this.#loaded.delete(oldest);
    return loaded.tree;
  }

  #build(place: TurnTree): LoadedTree {
    if (place.context === null)
      return { tree: this.#options.snapshots.treeAfter(turnNumber(place.turn) ?? 0), pin: null };
    const state = this.#stateOf(place);
    const pin = pinOf(state);
    const version = pin && this.#options.contexts.tree(pin);
    if (!state || !version)
      throw new FileError(
        "turns_busy",
        `Too many files of earlier turns are being read at once. Read ${place.context} of ${place.turn} again.`,
      );
    const { changes } = state;
    return { tree: changes.size === 0 ? version : applyChanges(version, changes), pin };
  }

  #stateOf({ turn, context }: TurnTree): ChangeSet | null {
    const isWanted = (state: ChangeSet) => state.context === context;
    return context === null ? null : (this.#statesOf(turnNumber(turn) ?? 0).find(isWanted) ?? null);
  }

  /** The states of contexts at the end of a turn. */
  #statesOf(turn: number): readonly ChangeSet[] {
    return this.#options.contextChanges.of(turn);
  }
}

const keyOf = ({ turn, context }: TurnTree): string => `${turn} ${context ?? ""}`;

const pinOf = (state: ChangeSet | null): Pin | null =>
  state && { name: state.context, version: state.version };
