import type { TurnState } from "../../../src/coordination";
import {
  type EarlierTurns,
  MOST_LOADED_TURNS,
  turnName,
  turnNumber,
} from "../../../src/workspace/earlier-turns";
import { contextsOf } from "../../../src/workspace/mounts";
import { applyChanges, EMPTY_TREE } from "../../../src/workspace/tree";
import type { FileEntry, Tree, TurnTree } from "../../../src/workspace/types";
import type { ChangeSet, ContextChanges } from "./context-changes";
import type { Pin, SessionContexts } from "./session-contexts";
import type { SnapshotStore } from "./snapshot-store";

type Options = {
  snapshots: Pick<SnapshotStore, "treeAfter">;
  contexts: Pick<SessionContexts, "older" | "read">;
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

/**
 * The trees that agents see below `/turns`: the results of the turns that the running turn
 * continues, and their states of contexts. A tree is loaded when it is read. At most
 * `MOST_LOADED_TURNS` trees stay loaded, for all agents together.
 */
export class TurnTrees {
  readonly #options: Options;
  /** Loaded trees. The tree that was used first is first. */
  readonly #loaded = new Map<string, Tree>();
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
      withTree: async <T>(place: TurnTree, act: () => T): Promise<Awaited<T>> => {
        const tree = await this.#load(ancestors, place);
        // Synchronous from here until `act` begins: a concurrent read may replace the tree later.
        this.#keep(place, tree);
        return await act();
      },
      tree: (place) => this.#loaded.get(keyOf(place)) ?? EMPTY_TREE,
    };
  }

  /**
   * Reads contents from the versions of contexts that agents have read below `/turns` in this turn;
   * `null` if none of them has the contents. Throws `FileError` if a version cannot be read now.
   */
  async contents(entry: FileEntry): Promise<Uint8Array | null> {
    const { contexts } = this.#options;
    for (const pin of this.#ancestors?.usedPins.values() ?? []) {
      const version = await contexts.older(pin);
      if (version.has(entry.hash)) return contexts.read(entry, version);
    }
    return null;
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

  async #load({ usedPins }: Ancestors, place: TurnTree): Promise<Tree> {
    const loaded = this.#loaded.get(keyOf(place));
    if (loaded) return loaded;
    const number = turnNumber(place.turn) ?? 0;
    if (place.context === null) return this.#options.snapshots.treeAfter(number);
    const state = this.#stateOf(number, place.context);
    if (!state) return EMPTY_TREE;
    const pin = { name: state.context, version: state.version };
    usedPins.set(`${pin.name} ${pin.version}`, pin);
    const { tree } = await this.#options.contexts.older(pin);
    return state.changes.size === 0 ? tree : applyChanges(tree, state.changes);
  }

  #keep(place: TurnTree, tree: Tree): void {
    const key = keyOf(place);
    this.#loaded.delete(key);
    this.#loaded.set(key, tree);
    const [oldest] = this.#loaded.keys();
    if (this.#loaded.size > MOST_LOADED_TURNS && oldest !== undefined) this.#loaded.delete(oldest);
  }

  #stateOf(turn: number, context: string): ChangeSet | null {
    return this.#statesOf(turn).find((state) => state.context === context) ?? null;
  }

  /** The states of contexts at the end of a turn. */
  #statesOf(turn: number): readonly ChangeSet[] {
    return this.#options.contextChanges.of(turn);
  }
}

const keyOf = ({ turn, context }: TurnTree): string => `${turn} ${context ?? ""}`;
