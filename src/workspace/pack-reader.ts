/** The position of a file's contents in a pack: `size` bytes at offset `at`. */
export type Member = { pack: string; at: number; size: number };

/** Reads packs by name. `pack` reads the whole pack, `packed` a range. Both: `null` if missing. */
type PackSource = {
  pack(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
  packed(name: string, offset: number, length: number): Promise<Uint8Array<ArrayBuffer> | null>;
};

/** Number of packs of which the reader remembers that it has read one file. */
const MAX_BEGUN = 64;

/**
 * Reads contents from packs. For the first file of a pack, reads only its range. For the second
 * file, loads the whole pack into memory: a caller that reads two files, such as a search, usually
 * reads all files. Calls may run concurrently.
 */
export class PackReader {
  readonly #source: PackSource;
  readonly #maxBytes: number;
  /** Packs of which one file was read. The most recent pack is last. */
  readonly #begun = new Set<string>();
  /** Packs in memory. The most recently used pack is last. */
  readonly #cache = new Map<string, Uint8Array<ArrayBuffer>>();
  #cachedBytes = 0;
  /** Packs that are being loaded. Callers that need the same pack share one load. */
  readonly #loading = new Map<string, Promise<Uint8Array<ArrayBuffer> | null>>();

  /**
   * `maxBytes` limits the packs in memory, but the most recently used pack always stays. Packs that
   * are being loaded do not count.
   */
  constructor(source: PackSource, maxBytes: number) {
    this.#source = source;
    this.#maxBytes = maxBytes;
  }

  /**
   * Reads a file's contents; `null` if the pack is missing. Throws if the pack is too short.
   * `isSearch`: whether more files of the pack will be read, so that the whole pack is loaded.
   */
  async read(
    { pack, at, size }: Member,
    isSearch = false,
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    const cached = this.#cache.get(pack);
    if (!cached && !this.#loading.has(pack) && !isSearch && this.#begin(pack))
      return checkedSize(await this.#source.packed(pack, at, size), size);
    const bytes = cached ?? (await this.#load(pack));
    if (!bytes) return null;
    if (cached) this.#addToCache(pack, cached);
    return checkedSize(bytes.slice(at, at + size), size);
  }

  /** Whether this is the first file of the pack. */
  #begin(pack: string): boolean {
    if (this.#begun.delete(pack)) return false;
    this.#begun.add(pack);
    const [oldest] = this.#begun;
    if (this.#begun.size > MAX_BEGUN && oldest !== undefined) this.#begun.delete(oldest);
    return true;
  }

  #addToCache(pack: string, bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#cache.delete(pack)) this.#cachedBytes -= bytes.byteLength;
    this.#cache.set(pack, bytes);
    this.#cachedBytes += bytes.byteLength;
    for (const [oldest, { byteLength }] of this.#cache) {
      if (this.#cachedBytes <= this.#maxBytes || oldest === pack) break;
      this.#cache.delete(oldest);
      this.#cachedBytes -= byteLength;
    }
  }

  #load(pack: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const loading = this.#loading.get(pack) ?? this.#loadAlone(pack);
    this.#loading.set(pack, loading);
    return loading;
  }

  async #loadAlone(pack: string): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      const bytes = await this.#source.pack(pack);
      if (bytes) this.#addToCache(pack, bytes);
      return bytes;
    } finally {
      this.#loading.delete(pack);
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
