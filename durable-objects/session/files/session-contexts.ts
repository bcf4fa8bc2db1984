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
 * The user's contexts in the versions that the running turn has pinned. Trees are loaded once.
 * Contents are read on demand; small ones are cached, because the agents of a team read the same
 * files. Reads use the R2 queue.
 */
export class SessionContexts implements BlobSource {
  readonly #options: Options;
  /** `null`: erased since it was pinned. */
  readonly #opened = new Map<string, LoadedContext | null>();
  readonly #recent = new Map<string, Uint8Array>();
  #recentBytes = 0;
  #loading: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Loads the trees of these contexts, and drops all others. Throws `FileError` if they cannot be
   * read now.
   */
  async load(pins: readonly Pin[]): Promise<void> {
    const before = this.#loading;
    const loading = before.catch(() => undefined).then(() => this.#load(pins));
    this.#loading = loading;
    return loading;
  }

  /** The tree of a loaded context; `null` if it was erased or is not loaded. */
  tree(pin: Pin): Tree | null {
    return this.#opened.get(keyOf(pin))?.tree ?? null;
  }

  /** Whether a loaded context has these contents. */
  has(hash: string): boolean {
    return this.#holder(hash) !== undefined;
  }

  /** The contents of a file of a loaded context. Throws `FileError` if they cannot be read now. */
  async read(entry: FileEntry): Promise<Uint8Array> {
    const known = this.#recent.get(entry.hash);
    if (known) return known.slice();
    const holder = this.#holder(entry.hash);
    if (!holder) throw new Error(`no context has the contents ${entry.hash}`);
    return this.#reached(async () => {
      // an earlier read in the queue may have fetched it
      const meanwhile = this.#recent.get(entry.hash);
      const bytes = meanwhile ?? (await holder.read(entry));
      return meanwhile || this.#keep(entry.hash, bytes) ? bytes.slice() : bytes;
    });
  }

  async #load(pins: readonly Pin[]): Promise<void> {
    const wanted = new Set(pins.map(keyOf));
    for (const key of this.#opened.keys()) if (!wanted.has(key)) this.#opened.delete(key);
    for (const pin of pins) {
      if (this.#opened.has(keyOf(pin))) continue;
      const { reader, tenant } = this.#options;
      const found = await this.#reached(() => reader.open(tenant, pin.name, pin.version));
      this.#opened.set(keyOf(pin), found && { tree: found.tree, has: found.has, read: found.read });
    }
  }

  async #reached<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await this.#options.storageQueue.take(ask);
    } catch (error) {
      logError("a context cannot be read", error);
      const message =
        "What the user uploaded cannot be read now: the storage does not answer, or it was erased. Try again.";
      throw new FileError("context_unavailable", message);
    }
  }

  #holder(hash: string): LoadedContext | undefined {
    return [...this.#opened.values()].find((opened) => opened?.has(hash)) ?? undefined;
  }

  /** Caches contents. Returns whether they are cached; then they must not be changed. */
  #keep(hash: string, bytes: Uint8Array): boolean {
    if (bytes.byteLength > CONTEXT_CACHE.fileBytes || this.#recent.has(hash)) return false;
    this.#recent.set(hash, bytes);
    this.#recentBytes += bytes.byteLength;
    for (const [oldest, { byteLength }] of this.#recent) {
      if (this.#recentBytes <= CONTEXT_CACHE.bytes) break;
      this.#recent.delete(oldest);
      this.#recentBytes -= byteLength;
    }
    return true;
  }
}

const keyOf = ({ name, version }: Pin): string => `${name} ${version}`;
