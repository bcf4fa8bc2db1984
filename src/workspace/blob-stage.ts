import type { BlobSource } from "./agent-files";
import { tooMuchAtOnce } from "./file-errors";
import { hashOf } from "./snapshot";
import type { FileEntry } from "./types";

const NOTHING = new Uint8Array();

/** Bytes of new contents per call: a quarter of the isolate's memory, which is shared. */
export const MOST_STAGED_BYTES = 32 * 1024 * 1024;

/** New contents while a file of this call has them. Earlier contents are read from the source. */
export class BlobStage {
  readonly #source: BlobSource;
  readonly #staged = new Map<string, { bytes: Uint8Array; files: number }>();

  readonly #most: number;
  #bytes = 0;

  /** `most` limits the staged bytes. */
  constructor(source: BlobSource, most: number = MOST_STAGED_BYTES) {
    this.#source = source;
    this.#most = most;
  }

  /** The hash and a copy of new contents. Not staged until `keep`. */
  async prepare(contents: Uint8Array): Promise<{ hash: string; bytes: Uint8Array }> {
    const bytes = contents.slice(); // the caller's array may change during hashing
    return { hash: await hashOf(bytes), bytes };
  }

  /** Throws `FileError` `too_much_at_once` if the call would exceed its limit. */
  keep({ hash, bytes }: { hash: string; bytes: Uint8Array }): void {
    if (this.#staged.has(hash)) return;
    if (this.#bytes + bytes.byteLength > this.#most) throw tooMuchAtOnce(this.#most);
    this.#bytes += bytes.byteLength;
    this.#staged.set(hash, { bytes, files: 0 });
  }

  /** Counts a file with these contents. */
  hold(hash: string): void {
    const staged = this.#staged.get(hash);
    if (staged) staged.files += 1;
  }

  /** Uncounts a file; contents without a file are dropped. */
  release(hash: string): void {
    const staged = this.#staged.get(hash);
    if (!staged) return;
    staged.files -= 1;
    if (staged.files > 0) return;
    this.#staged.delete(hash);
    this.#bytes -= staged.bytes.byteLength;
  }

  /** Throws the source's error if the contents are missing. */
  async read(entry: FileEntry): Promise<Uint8Array> {
    if (entry.size === 0) return NOTHING;
    return this.#staged.get(entry.hash)?.bytes.slice() ?? this.#source.read(entry);
  }

  /** All staged contents. */
  all(): Map<string, Uint8Array> {
    return new Map([...this.#staged].map(([hash, { bytes }]) => [hash, bytes]));
  }
}
