import type { BlobSource } from "./agent-files";
import { tooMuchAtOnce } from "./file-errors";
import { hashOf } from "./snapshot";
import type { FileEntry } from "./types";

const NOTHING = new Uint8Array();

/** Bytes of new contents that one call may hold: a quarter of what the isolate has, since others work there too. */
export const MOST_STAGED_BYTES = 32 * 1024 * 1024;

/** New contents, as long as a file of this call has them; those of before come from where they lie. */
export class BlobStage {
  readonly #source: BlobSource;
  readonly #staged = new Map<string, { bytes: Uint8Array; files: number }>();

  readonly #most: number;
  #bytes = 0;

  /** `most`: bytes it holds at a time. */
  constructor(source: BlobSource, most: number = MOST_STAGED_BYTES) {
    this.#source = source;
    this.#most = most;
  }

  /** The name and the bytes of new contents. Nothing is kept until a file holds them. */
  async prepare(contents: Uint8Array): Promise<{ hash: string; bytes: Uint8Array }> {
    const bytes = contents.slice(); // the caller's own may change while they are hashed
    return { hash: await hashOf(bytes), bytes };
  }

  /** Throws `FileError` `too_much_at_once` if that is more than a call may hold. */
  keep({ hash, bytes }: { hash: string; bytes: Uint8Array }): void {
    if (this.#staged.has(hash)) return;
    if (this.#bytes + bytes.byteLength > this.#most) throw tooMuchAtOnce(this.#most);
    this.#bytes += bytes.byteLength;
    this.#staged.set(hash, { bytes, files: 0 });
  }

  /** One file more has these contents. */
  hold(hash: string): void {
    const staged = this.#staged.get(hash);
    if (staged) staged.files += 1;
  }

  /** One file less; what no file has is dropped. */
  release(hash: string): void {
    const staged = this.#staged.get(hash);
    if (!staged) return;
    staged.files -= 1;
    if (staged.files > 0) return;
    this.#staged.delete(hash);
    this.#bytes -= staged.bytes.byteLength;
  }

  /** Throws what the source throws if nobody has them. */
  async read(entry: FileEntry): Promise<Uint8Array> {
    if (entry.size === 0) return NOTHING;
    return this.#staged.get(entry.hash)?.bytes.slice() ?? this.#source.read(entry);
  }

  /** What files of this call hold. */
  all(): Map<string, Uint8Array> {
    return new Map([...this.#staged].map(([hash, { bytes }]) => [hash, bytes]));
  }
}
