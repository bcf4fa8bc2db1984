/** The position of a file's contents in a pack: `size` bytes at offset `at`. */
export type Member = { pack: string; at: number; size: number };

/** Reads packs by name. `pack` reads the whole pack, `packed` a range. Both: `null` if missing. */
type PackSource = {
  pack(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
  packed(name: string, offset: number, length: number): Promise<Uint8Array<ArrayBuffer> | null>;
};

/**
 * Reads contents from packs. For the first file of a pack, reads only its range. For the second
 * file, loads the whole pack into memory: a caller that reads two files, such as a search, usually
 * reads all files. Calls may run concurrently.
 */
export class PackReader {
  readonly #source: PackSource;
  #lastPack: string | null = null;
  /** Packs in memory. The most recently used pack is last. */
  readonly #cache = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #maxCached: number;
  #loading: { pack: string; bytes: Promise<Uint8Array<ArrayBuffer> | null> } | null = null;

  /**
   * `maxCached` is the number of packs in memory. With two packs, a few reads from another pack do
   * not evict the pack that is mainly read.
   */
  constructor(source: PackSource, maxCached = 1) {
    this.#source = source;
    this.#maxCached = maxCached;
  }

  /** Reads a file's contents; `null` if the pack is missing. Throws if the pack is too short. */
  async read({ pack, at, size }: Member): Promise<Uint8Array<ArrayBuffer> | null> {
    const isFirst = this.#lastPack !== pack;
    this.#lastPack = pack;
    const isCached = this.#cache.has(pack) || this.#loading?.pack === pack;
    if (isFirst && !isCached) return checkedSize(await this.#source.packed(pack, at, size), size);
    const bytes = this.#cache.get(pack) ?? (await this.#load(pack));
    if (!bytes) return null;
    this.#addToCache(pack, bytes);
    return checkedSize(bytes.slice(at, at + size), size);
  }

  #addToCache(pack: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#cache.delete(pack);
    this.#cache.set(pack, bytes);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > this.#maxCached && oldest !== undefined) this.#cache.delete(oldest);
  }

  /** Loads a pack. Concurrent callers that need the same pack share one read. */
  async #load(pack: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const loading =
      this.#loading?.pack === pack ? this.#loading : { pack, bytes: this.#source.pack(pack) };
    this.#loading = loading;
    try {
      return await loading.bytes;
    } finally {
      if (this.#loading === loading) this.#loading = null;
    }
  }
}

/** The bytes, after a check of their length. */
function checkedSize(
  bytes: Uint8Array<ArrayBuffer> | null,
  size: number,
): Uint8Array<ArrayBuffer> | null {
  if (bytes && bytes.byteLength !== size)
    throw new Error("A pack of files is shorter than it should be.");
  return bytes;
}
