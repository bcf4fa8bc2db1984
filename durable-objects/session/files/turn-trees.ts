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
import type { ContextState, ContextStates } from "./context-states";
import { OlderContexts } from "./older-contexts";
import type { Pin, SessionContexts } from "./session-contexts";
import type { SnapshotStore } from "./snapshot-store";

type Options = {
  snapshots: Pick<SnapshotStore, "treeAfter">;
  contexts: Pick<SessionContexts, "openVersion" | "readVersion" | "runRead">;
  contextStates: Pick<ContextStates, "endOf" | "namesIn">;
  /** See `TurnEnds`. */
  parentOf: (turn: number) => number | null;
};

/** The running turn: the turns that it continues, and what agents have read of them. */
type Ancestors = {
  turn: number;
  /** The oldest first. */
  numbers: ReadonlySet<number>;
  contextNames: Map<number, readonly string[]>;
  /**
   * The versions of contexts whose files agents have read below `/turns`, by name and id. The
   * version that was read last is last.
   */
  versions: Map<string, Pin>;
  /** The versions that store contents of such states, by hash. See `ContextState`. */
  sources: Map<string, Pin>;
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
  readonly #older: OlderContexts;
  /** Loaded trees. The tree that was used first is first. */
  readonly #loaded = new Map<string, LoadedTree>();
  /** Running loads of the running turn. Concurrent readers share them. */
  readonly #loading = new Map<string, Promise<LoadedTree>>();
  #ancestors: Ancestors | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#older = new OlderContexts(options.contexts);
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
        const loaded = this.#loaded.get(keyOf(place)) ?? (await this.#sharedLoad(ancestors, place));
        // Synchronous from here until `act` begins: a concurrent read may replace the tree later.
        this.#keep(ancestors, place, loaded);
        return await act();
      },
      tree: (place) => {
        const loaded = this.#loaded.get(keyOf(place));
        if (!loaded) throw new Error(`${keyOf(place)} is read outside of withTree`);
        return loaded.tree;
      },
    };
  }

  /**
   * Reads contents from the versions of contexts that agents have read below `/turns` in this turn;
   * `null` if none of them has the contents. Throws `FileError` if a version cannot be read now.
   */
  async contents(entry: FileEntry): Promise<Uint8Array | null> {
    const { versions, sources } = this.#ancestors ?? noAncestors();
    const source = sources.get(entry.hash);
    if (source) return this.#options.contexts.readVersion(source, entry);
    for (const pin of [...versions.values()].reverse()) {
      const version = await this.#older.open(pin);
      if (version.has(entry.hash)) return version.read(entry);
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
    this.#loading.clear();
    this.#ancestors = { ...noAncestors(), turn, numbers: new Set(numbers) };
    return this.#ancestors;
  }

  #contextNames({ contextNames }: Ancestors, turn: number): readonly string[] {
    const names = contextNames.get(turn) ?? this.#options.contextStates.namesIn(turn);
    contextNames.set(turn, names);
    return names;
  }

  #sharedLoad(ancestors: Ancestors, place: TurnTree): Promise<LoadedTree> {
    const key = keyOf(place);
    const loading =
      this.#loading.get(key) ??
      this.#load(ancestors, place).finally(() => {
        if (this.#loading.get(key) === loading) this.#loading.delete(key);
      });
    this.#loading.set(key, loading);
    return loading;
  }

  async #load({ sources }: Ancestors, place: TurnTree): Promise<LoadedTree> {
    const { snapshots, contextStates } = this.#options;
    const number = turnNumber(place.turn) ?? 0;
    if (place.context === null) return { tree: snapshots.treeAfter(number), pin: null };
    const state = contextStates.endOf(number, place.context);
    if (!state) return { tree: EMPTY_TREE, pin: null };
    for (const [hash, version] of state.sources) sources.set(hash, pinOf(state, version));
    const pin = pinOf(state, state.version);
    const { tree } = await this.#older.open(pin);
    return { tree: state.changes.size === 0 ? tree : applyChanges(tree, state.changes), pin };
  }

  /** Notes that a tree is used now, and drops the tree that was used longest ago. */
  #keep({ versions }: Ancestors, place: TurnTree, loaded: LoadedTree): void {
    useLast(this.#loaded, keyOf(place), loaded);
    const [oldest] = this.#loaded.keys();
    if (this.#loaded.size > MOST_LOADED_TURNS && oldest !== undefined) this.#loaded.delete(oldest);
    const { pin } = loaded;
    if (pin) useLast(versions, `${pin.name} ${pin.version}`, pin);
  }
}

/** Makes an entry the last entry of a map. */
function useLast<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
}

const noAncestors = (): Omit<Ancestors, "turn" | "numbers"> => ({
  contextNames: new Map(),
  versions: new Map(),
  sources: new Map(),
});

const pinOf = ({ context }: ContextState, version: string): Pin => ({ name: context, version });

const keyOf = ({ turn, context }: TurnTree): string => `${turn} ${context ?? ""}`;
