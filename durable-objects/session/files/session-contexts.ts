import type { ContextReader, OpenContext } from "../../../src/uploads/context-reader";
import type { PinnedContext } from "../../../src/protocol/events";
import { logError } from "../../../src/redaction/log";
import type { BlobSource } from "../../../src/workspace/agent-files";
import { type FileEntry, FileError, type Tree } from "../../../src/workspace/types";
import type { StorageQueue } from "./storage-queue";
import { CONTEXT_CACHE } from "../../shared/object-limits";

type Options = { reader: ContextReader; tenant: string; storageQueue: Pick<StorageQueue, "take"> };
type Pin = Pick<PinnedContext, "name" | "version">;
type LoadedContext = Pick<OpenContext, "tree" | "has" | "read">;

/**
 * The user's contexts in the versions that the running turn has pinned. A tree is loaded once.
 * Contents are read when they are needed; small contents are cached, because the agents of a team
 * read the same files. Reads use the storage queue.
 */
export class SessionContexts implements BlobSource {
  readonly #options: Options;
  /** Loaded contexts; `null` if the context was erased after it was pinned. */
  readonly #loaded = new Map<string, LoadedContext | null>();
  /** Contents by hash, the oldest first. */
  readonly #cache = new Map<string, Uint8Array>();
  #cacheBytes = 0;
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

  /** The tree of a loaded context; `null` if it was erased or is not loaded. */
  tree(pin: Pin): Tree | null {
    return this.#loaded.get(keyOf(pin))?.tree ?? null;
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
    const cached = this.#cache.get(entry.hash);
    if (cached) return cached.slice();
    const context = this.#contextWith(entry.hash);
    if (!context) throw new Error(`no context has the contents ${entry.hash}`);
    return this.#runRead(async () => {
      // An earlier read in the queue may have fetched the same contents.
      const cachedMeanwhile = this.#cache.get(entry.hash);
      const bytes = cachedMeanwhile ?? (await context.read(entry));
      return cachedMeanwhile || this.#addToCache(entry.hash, bytes) ? bytes.slice() : bytes;
    });
  }

  async #load(pins: readonly Pin[]): Promise<void> {
    const pinnedKeys = new Set(pins.map(keyOf));
    for (const key of this.#loaded.keys()) if (!pinnedKeys.has(key)) this.#loaded.delete(key);
    for (const pin of pins) {
      if (this.#loaded.has(keyOf(pin))) continue;
      const { reader, tenant } = this.#options;
      const found = await this.#runRead(() => reader.open(tenant, pin.name, pin.version));
      this.#loaded.set(keyOf(pin), found && { tree: found.tree, has: found.has, read: found.read });
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
    return [...this.#loaded.values()].find((opened) => opened?.has(hash)) ?? undefined;
  }

  /** Caches contents. Returns whether it did; cached contents must not be changed. */
  #addToCache(hash: string, bytes: Uint8Array): boolean {
    if (bytes.byteLength > CONTEXT_CACHE.fileBytes || this.#cache.has(hash)) return false;
    this.#cache.set(hash, bytes);
    this.#cacheBytes += bytes.byteLength;
    for (const [oldest, { byteLength }] of this.#cache) {
      if (this.#cacheBytes <= CONTEXT_CACHE.bytes) break;
      this.#cache.delete(oldest);
      this.#cacheBytes -= byteLength;
    }
    return true;
  }
}

const keyOf = ({ name, version }: Pin): string => `${name} ${version}`;
