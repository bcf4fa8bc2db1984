import type { BlobSource } from "./agent-files";
import { tooMuchAtOnce } from "./file-errors";
import { hashOf } from "./snapshot";
import type { FileEntry } from "./types";

const EMPTY = new Uint8Array();

/**
 * Maximum bytes of new contents in one call: a quarter of the isolate's memory. Other sessions
 * share this memory.
 */
export const MAX_STAGED_BYTES = 32 * 1024 * 1024;

/**
 * Holds new contents in memory while a file of this call has them. Reads other contents from the
 * source.
 */
export class BlobStage {
  readonly #source: BlobSource;
  readonly #staged = new Map<string, { bytes: Uint8Array; files: number }>();

  readonly #maxBytes: number;
  #bytes = 0;

  constructor(source: BlobSource, maxBytes: number = MAX_STAGED_BYTES) {
    this.#source = source;
    this.#maxBytes = maxBytes;
  }

  /** Returns the hash and a copy of new contents. `keep` stages them. */
  async prepare(contents: Uint8Array): Promise<{ hash: string; bytes: Uint8Array }> {
    const bytes = contents.slice(); // the caller's array may change during hashing
    return { hash: await hashOf(bytes), bytes };
  }

  /** Stages new contents. Throws `FileError` `too_much_at_once` if the call exceeds its limit. */
  keep({ hash, bytes }: { hash: string; bytes: Uint8Array }): void {
    if (this.#staged.has(hash)) return;
    if (this.#bytes + bytes.byteLength > this.#maxBytes) throw tooMuchAtOnce(this.#maxBytes);
    this.#bytes += bytes.byteLength;
    this.#staged.set(hash, { bytes, files: 0 });
  }

  /** Counts one more file with these contents. */
  addFile(hash: string): void {
    const staged = this.#staged.get(hash);
    if (staged) staged.files += 1;
  }

  /** Removes one file from the count. Drops staged contents that no other file has. */
  removeFile(hash: string): void {
    const staged = this.#staged.get(hash);
    if (!staged) return;
    staged.files -= 1;
    if (staged.files > 0) return;
    this.#staged.delete(hash);
    this.#bytes -= staged.bytes.byteLength;
  }

  /** Throws the source's error if the contents are missing. */
  async read(entry: FileEntry): Promise<Uint8Array> {
    if (entry.size === 0) return EMPTY;
    return this.#staged.get(entry.hash)?.bytes.slice() ?? this.#source.read(entry);
  }

  /** All staged contents. */
  all(): Map<string, Uint8Array> {
    return new Map([...this.#staged].map(([hash, { bytes }]) => [hash, bytes]));
  }
}
