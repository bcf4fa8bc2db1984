/** `size` bytes of a pack at offset `at`. */
export type Member = { pack: string; at: number; size: number };

/** Packs by name; `null` if missing. */
type PackSource = {
  pack(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
  packed(name: string, offset: number, length: number): Promise<Uint8Array<ArrayBuffer> | null>;
};

/**
 * Reads contents from packs. The first file of a pack is read by range. A second one loads the
 * whole pack into memory, because such callers usually read all, as a search does. Calls may run
 * concurrently.
 */
export class PackReader {
  readonly #source: PackSource;
  #latest: string | null = null;
  /** Packs in memory, the most recently used last. */
  readonly #kept = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #mostKept: number;
  #loading: { pack: string; bytes: Promise<Uint8Array<ArrayBuffer> | null> } | null = null;

  /**
   * `mostKept` is the number of packs in memory. With two, a few files elsewhere do not evict the
   * main pack.
   */
  constructor(source: PackSource, mostKept = 1) {
    this.#source = source;
    this.#mostKept = mostKept;
  }

  /** `null` if missing; throws if the pack is too short. */
  async read({ pack, at, size }: Member): Promise<Uint8Array<ArrayBuffer> | null> {
    const isFirst = this.#latest !== pack;
    this.#latest = pack;
    const isAtHand = this.#kept.has(pack) || this.#loading?.pack === pack;
    if (isFirst && !isAtHand) return whole(await this.#source.packed(pack, at, size), size);
    const bytes = this.#kept.get(pack) ?? (await this.#load(pack));
    if (!bytes) return null;
    this.#keep(pack, bytes);
    return whole(bytes.slice(at, at + size), size);
  }

  #keep(pack: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#kept.delete(pack);
    this.#kept.set(pack, bytes);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#mostKept && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Concurrent callers of the same pack share one read. */
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

function whole(
  bytes: Uint8Array<ArrayBuffer> | null,
  size: number,
): Uint8Array<ArrayBuffer> | null {
  if (bytes && bytes.byteLength !== size)
    throw new Error("A pack of files is shorter than it should be.");
  return bytes;
}
