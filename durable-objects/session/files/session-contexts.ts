import type { ContextReader, OpenContext } from "../../../src/uploads/context-reader";
import type { PinnedContext } from "../../../src/protocol/events";
import { logError } from "../../../src/redaction/log";
import type { BlobSource } from "../../../src/workspace/agent-files";
import { applyChanges } from "../../../src/workspace/tree";
import { type FileEntry, FileError, type Tree } from "../../../src/workspace/types";
import { CONTEXT_CACHE } from "../../shared/object-limits";
import type { ContextState } from "./context-states";
import { ReadAhead } from "./read-ahead";
import type { StorageQueue } from "./storage-queue";

type Options = { reader: ContextReader; tenant: string; storageQueue: Pick<StorageQueue, "take"> };
export type Pin = Pick<PinnedContext, "name" | "version">;
/** A version and its tree. `start`: the tree at the start of a turn, see `StartOfTurn`. */
type LoadedContext = Pick<OpenContext, "has" | "read"> & {
  name: string;
  pinned: Tree;
  objectOf: OpenContext["objectOf"];
  start: StartTree;
};
type StartTree = {
  turn: number;
  tree: Tree;
  sources: ReadonlyMap<string, string>;
  readAhead: ReadAhead;
};
type OlderVersion = Pick<OpenContext, "read">;

/** Older versions that are open at the same time, to read contents that only they store. */
const MAX_OLDER_VERSIONS = 4;

/**
 * The user's contexts as they are at the start of the running turn: the versions that the turn has
 * pinned, with the differences that earlier turns made. A tree is loaded once. Contents are read
 * when they are needed; small contents are cached, because the agents of a team read the same
 * files. What a search needs next is read ahead. Reads use the storage queue.
 */
export class SessionContexts implements BlobSource {
  readonly #options: Options;
  /** Loaded contexts; `null` if the context was erased after it was pinned. */
  readonly #loaded = new Map<string, LoadedContext | null>();
  /** Open older versions, by their keys; the one that was used longest ago first. */
  readonly #older = new Map<string, Promise<OlderVersion>>();
  /** Contents by hash, the oldest first. */
  readonly #cache = new Map<string, Uint8Array>();
  #cacheBytes = 0;
  /** Running reads of contents that will be cached, by hash. Callers share them. */
  readonly #reading = new Map<string, Promise<Uint8Array>>();
  /** The end of the latest `load`: loads run one after the other. */
  #loading: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Loads the trees of a turn's contexts, and drops all other trees. Throws `FileError` if a tree
   * cannot be read now.
   */
  async load(turn: number, states: readonly ContextState[]): Promise<void> {
    const before = this.#loading;
    const loading = before.catch(() => undefined).then(() => this.#load(turn, states));
    this.#loading = loading;
    return loading;
  }

  /** The tree of a loaded context at the start of the turn; `null` if it was erased. */
  tree(pin: Pin): Tree | null {
    return this.#loaded.get(keyOf(pin))?.start.tree ?? null;
  }

  /** The tree of the version itself; `null` if it was erased or is not loaded. */
  pinnedTree(pin: Pin): Tree | null {
    return this.#loaded.get(keyOf(pin))?.pinned ?? null;
  }

  /** Whether a loaded context has these contents. */
  has(hash: string): boolean {
    return this.#contextWith(hash) !== undefined;
  }

  /**
   * Reads the contents of a file in a loaded context. Throws `FileError` if the contents cannot be
   * read now.
   */
  async read(entry: FileEntry): Promise<Uint8Array> {
    const context = this.#contextWith(entry.hash);
    const { isSearch, ahead } = context?.start.readAhead.noteRead(entry.hash) ?? NO_SEARCH;
    const cached = this.#cache.get(entry.hash);
    const contents = cached ?? (context && this.#read(context, entry, isSearch));
    if (!contents) throw new Error(`no context has the contents ${entry.hash}`);
    // Started after the read of this file, because its caller waits for it.
    for (const next of ahead) if (context) this.#readAhead(context, next);
    return isCacheable(entry) ? (await contents).slice() : contents;
  }

  /** Failures are dropped: the read that needs the contents is tried again, and reports them. */
  #readAhead(context: LoadedContext, entry: FileEntry): void {
    if (!this.#cache.has(entry.hash)) this.#read(context, entry, true).catch(() => undefined);
  }

  /** Reads contents that are not cached. The result must not be changed if it is cacheable. */
  #read(context: LoadedContext, entry: FileEntry, isSearch: boolean): Promise<Uint8Array> {
    const read = () => this.runRead(() => this.#readFrom(context, entry, isSearch));
    if (!isCacheable(entry)) return read();
    const reading =
      this.#reading.get(entry.hash) ??
      read()
        .then((bytes) => this.#addToCache(entry.hash, bytes))
        .finally(() => this.#reading.delete(entry.hash));
    this.#reading.set(entry.hash, reading);
    return reading;
  }

  async #load(turn: number, states: readonly ContextState[]): Promise<void> {
    const pins = states.map((state) => ({ ...state, name: state.context }));
    const pinnedKeys = new Set(pins.map(keyOf));
    for (const key of this.#loaded.keys()) if (!pinnedKeys.has(key)) this.#loaded.delete(key);
    if (states.every(({ sources }) => sources.size === 0)) this.#older.clear();
    for (const pin of pins) {
      const key = keyOf(pin);
      const loaded = this.#loaded.get(key);
      if (loaded === undefined) {
        const opened = await this.openVersion(pin);
        this.#loaded.set(key, opened && toLoaded(turn, pin, opened));
      } else if (loaded !== null && loaded.start.turn !== turn)
        this.#loaded.set(key, { ...loaded, start: startTree(turn, pin, loaded) });
    }
  }

  /** Opens a version; `null` if it does not exist. Throws `FileError` if it cannot be read now. */
  openVersion({ name, version }: Pin): Promise<OpenContext | null> {
    const { reader, tenant } = this.#options;
    return this.runRead(() => reader.open(tenant, name, version));
  }

  /** Reads contents from the pinned version, or from the older version that stores them. */
  async #readFrom(
    context: LoadedContext,
    entry: FileEntry,
    isSearch: boolean,
  ): Promise<Uint8Array> {
    const source = context.start.sources.get(entry.hash);
    if (context.has(entry.hash) || source === undefined) return context.read(entry, isSearch);
    return this.#readOlder({ name: context.name, version: source }, entry);
  }

  /**
   * Reads contents of a version that need not be loaded. Throws `FileError` if they cannot be read
   * now.
   */
  readVersion(pin: Pin, entry: FileEntry): Promise<Uint8Array> {
    return this.runRead(() => this.#readOlder(pin, entry));
  }

  /** Reads contents of a version that is not loaded. Throws if the version does not exist. */
  async #readOlder(pin: Pin, entry: FileEntry): Promise<Uint8Array> {
    const { reader, tenant } = this.#options;
    const key = keyOf(pin);
    const opening =
      this.#older.get(key) ??
      reader.open(tenant, pin.name, pin.version).then((opened) => {
        if (!opened) throw new Error("an older version of a context is gone");
        return opened;
      });
    this.#older.delete(key);
    this.#older.set(key, opening);
    const [oldest] = this.#older.keys();
    if (this.#older.size > MAX_OLDER_VERSIONS && oldest !== undefined) this.#older.delete(oldest);
    try {
      return await (await opening).read(entry);
    } catch (error) {
      this.#older.delete(key);
      throw error;
    }
  }

  /** Runs a read in the storage queue. Throws `FileError` if it fails. */
  async runRead<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await this.#options.storageQueue.take(read);
    } catch (error) {
      logError("a context cannot be read", error);
      const message =
        "What the user uploaded cannot be read now: the storage does not answer, or it was erased. Try again.";
      throw new FileError("context_unavailable", message);
    }
  }

  #contextWith(hash: string): LoadedContext | undefined {
    const contexts = [...this.#loaded.values()].flatMap((context) => context ?? []);
    return (
      contexts.find((context) => context.has(hash)) ??
      contexts.find(({ start }) => start.sources.has(hash))
    );
  }

  /** Caches contents and returns them. They must not be changed afterwards. */
  #addToCache(hash: string, bytes: Uint8Array): Uint8Array {
    this.#cache.set(hash, bytes);
    this.#cacheBytes += bytes.byteLength;
    for (const [oldest, { byteLength }] of this.#cache) {
      if (this.#cacheBytes <= CONTEXT_CACHE.bytes) break;
      this.#cache.delete(oldest);
      this.#cacheBytes -= byteLength;
    }
    return bytes;
  }
}

const NO_SEARCH = { isSearch: false, ahead: [] };

const isCacheable = ({ size }: FileEntry): boolean => size <= CONTEXT_CACHE.fileBytes;

type VersionSource = Pick<OpenContext, "tree" | "has" | "read" | "objectOf">;

function toLoaded(turn: number, state: ContextState, opened: VersionSource): LoadedContext {
  const { tree: pinned, has, read, objectOf } = opened;
  const context = { name: state.context, pinned, has, read, objectOf };
  return { ...context, start: startTree(turn, state, context) };
}

/** The tree of a context at the start of a turn. */
function startTree(
  turn: number,
  { changes, sources }: ContextState,
  { pinned, has, objectOf }: Pick<LoadedContext, "pinned" | "has" | "objectOf">,
): StartTree {
  const tree = changes.size === 0 ? pinned : applyChanges(pinned, changes);
  const storedAs = (entry: FileEntry) =>
    isCacheable(entry) && has(entry.hash) ? objectOf(entry) : null;
  return { turn, tree, sources, readAhead: new ReadAhead(tree.values(), storedAs) };
}

const keyOf = ({ name, version }: Pin): string => `${name} ${version}`;
