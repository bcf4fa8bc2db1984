import type { SessionObjects } from "../r2-layout/session-files";

type Member = { pack: string; at: number; size: number };

/**
 * Contents out of packs. One file is read by its place; whoever reads a second of the same pack mostly wants them all, as a search
 * through a tree does, and gets the rest from memory.
 */
export class PackReader {
  readonly #objects: SessionObjects;
  #latest: string | null = null;
  /** The one pack in memory: at most `PACK_LIMITS.packBytes`. */
  #kept: { pack: string; bytes: Uint8Array<ArrayBuffer> } | null = null;

  constructor(objects: SessionObjects) {
    this.#objects = objects;
  }

  /** null if it is not there; throws if there is less of it than there should be. One read at a time. */
  async read({ pack, at, size }: Member): Promise<Uint8Array<ArrayBuffer> | null> {
    const isFirst = this.#latest !== pack;
    this.#latest = pack;
    if (isFirst && this.#kept?.pack !== pack) return whole(await this.#objects.packed(pack, at, size), size);
    const bytes = this.#kept?.pack === pack ? this.#kept.bytes : await this.#objects.pack(pack);
    if (!bytes) return null;
    this.#kept = { pack, bytes };
    return whole(bytes.slice(at, at + size), size);
  }
}

function whole(bytes: Uint8Array<ArrayBuffer> | null, size: number): Uint8Array<ArrayBuffer> | null {
  if (bytes && bytes.byteLength !== size) throw new Error("A pack of files is shorter than it should be.");
  return bytes;
}
