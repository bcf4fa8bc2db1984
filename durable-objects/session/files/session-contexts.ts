import type { ContextReader, OpenContext } from "../../../src/uploads/context-reader";
import type { PinnedContext } from "../../../src/protocol/events";
import { logError } from "../../../src/redaction/log";
import type { BlobSource } from "../../../src/workspace/agent-files";
import { type FileEntry, FileError, type Tree } from "../../../src/workspace/types";
import { CONTEXT_CACHE } from "../../shared/object-limits";
import { ReadAhead } from "./read-ahead";
import type { StorageQueue } from "./storage-queue";
import { MOST_LOADED_TURNS } from "../../../src/workspace/earlier-turns";

type Options = { reader: ContextReader; tenant: string; storageQueue: Pick<StorageQueue, "take"> };
export type Pin = Pick<PinnedContext, "name" | "version">;
export type LoadedContext = Pick<OpenContext, "tree" | "has" | "read"> & { readAhead: ReadAhead };

/**
 * The user's contexts in the versions that the running turn has pinned, and in those of earlier
 * turns that agents read. A tree is loaded once.
 * Contents are read when they are needed; small contents are cached, because the agents of a team
 * read the same files. What a search needs next is read ahead. Reads use the storage queue.
 */
export class SessionContexts implements BlobSource {
  readonly #options: Options;
  /** Loaded contexts; `null` if the context was erased after it was pinned. */
  readonly #loaded = new Map<string, LoadedContext | null>();
  /** Contexts in the versions of earlier turns. The context that was used first is first. */
  readonly #older = new Map<string, LoadedContext>();
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
   * Loads the trees of these contexts, and drops all other trees. Throws `FileError` if a tree
   * cannot be read now.
   */
  async load(pins: readonly Pin[]): Promise<void> {
    const before = this.#loading;
    const loading = before.catch(() => undefined).then(() => this.#load(pins));
    this.#loading = loading;
    return loading;
  }

  /**
   * A context in the version of an earlier turn. At most `MOST_LOADED_TURNS` such contexts stay
   * loaded. Throws `FileError` if the context cannot be read now, or was erased.
   */
  async older(pin: Pin): Promise<LoadedContext> {
    const key = keyOf(pin);
    const context = this.#loaded.get(key) ?? this.#older.get(key) ?? (await this.#openOlder(pin));
    if (this.#loaded.get(key) === context) return context;
    this.#older.delete(key);
    this.#older.set(key, context);
    const [oldest] = this.#older.keys();
    if (this.#older.size > MOST_LOADED_TURNS && oldest !== undefined) this.#older.delete(oldest);
    return context;
  }

  async #openOlder({ name, version }: Pin): Promise<LoadedContext> {
    const { reader, tenant } = this.#options;
    const found = await this.#runRead(() => reader.open(tenant, name, version));
    if (found) return toLoaded(found);
    const message = `The version of ${name} that this turn used was erased.`;
    throw new FileError("context_unavailable", message);
  }

  /** The tree of a loaded context; `null` if it was erased or is not loaded. */
  tree(pin: Pin): Tree | null {
    return this.#loaded.get(keyOf(pin))?.tree ?? null;
  }

  /** Whether a loaded context has these contents. */
  has(hash: string): boolean {
    return this.#contextWith(hash) !== undefined;
  }

  /**
   * Reads the contents of a file in a context; by default, in a loaded context. Throws `FileError`
   * if the contents cannot be read now.
   */
  async read(
    entry: FileEntry,
    context: LoadedContext | undefined = this.#contextWith(entry.hash),
  ): Promise<Uint8Array> {
    const { isSearch, ahead } = context?.readAhead.noteRead(entry.hash) ?? NO_SEARCH;
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
    const read = () => this.#runRead(() => context.read(entry, isSearch));
    if (!isCacheable(entry)) return read();
    const reading =
      this.#reading.get(entry.hash) ??
      read()
        .then((bytes) => this.#addToCache(entry.hash, bytes))
        .finally(() => this.#reading.delete(entry.hash));
    this.#reading.set(entry.hash, reading);
    return reading;
  }

  async #load(pins: readonly Pin[]): Promise<void> {
    const pinnedKeys = new Set(pins.map(keyOf));
    for (const key of this.#loaded.keys()) if (!pinnedKeys.has(key)) this.#loaded.delete(key);
    for (const pin of pins) {
      if (this.#loaded.has(keyOf(pin))) continue;
      const { reader, tenant } = this.#options;
      const found = await this.#runRead(() => reader.open(tenant, pin.name, pin.version));
      this.#loaded.set(keyOf(pin), found && toLoaded(found));
    }
  }

  /** Runs a read in the storage queue. Throws `FileError` if it fails. */
  async #runRead<T>(read: () => Promise<T>): Promise<T> {
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
    const opened = [...this.#loaded.values(), ...this.#older.values()];
    return opened.find((context) => context?.has(hash)) ?? undefined;
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

function toLoaded({ tree, has, read, objectOf }: OpenContext): LoadedContext {
  const storedAs = (entry: FileEntry) => (isCacheable(entry) ? objectOf(entry) : null);
  return { tree, has, read, readAhead: new ReadAhead(tree.values(), storedAs) };
}

const keyOf = ({ name, version }: Pin): string => `${name} ${version}`;
