/** `size` bytes of a pack from `at` on. */
export type Member = { pack: string; at: number; size: number };

/** Packs by their names; null for one that is not there. */
export type PackSource = {
  pack(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
  packed(name: string, offset: number, length: number): Promise<Uint8Array<ArrayBuffer> | null>;
};

/**
 * Contents out of packs. One file is read by its place; whoever reads a second of the same pack mostly wants them all, as a search
 * through a tree does, and gets the rest from memory. Several may read at a time.
 */
export class PackReader {
  readonly #source: PackSource;
  #latest: string | null = null;
  /** Packs in memory, the one that was read last at the end. */
  readonly #kept = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #mostKept: number;
  #loading: { pack: string; bytes: Promise<Uint8Array<ArrayBuffer> | null> } | null = null;

  /** `mostKept`: packs in memory. With two, some files that lie elsewhere do not push out the pack that most lie in. */
  constructor(source: PackSource, mostKept = 1) {
    this.#source = source;
    this.#mostKept = mostKept;
  }

  /** null if it is not there; throws if there is less of it than there should be. */
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

  /** Those who want the same pack at the same time wait for one read. */
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
