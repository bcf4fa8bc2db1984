/** How much may be on its way at a time: puts, and bytes held for them. What is larger than that is waited for by itself. */
const MOST_PUTS = 4;
export const ON_THEIR_WAY_BYTES = 4_000_000;

type Put = (hash: string, bytes: Uint8Array) => Promise<void>;

/** Stores blobs a few at a time, each hash once. A put that fails is thrown by the next call, at the latest by `end`. */
export class BlobWriter {
  readonly #put: Put;
  readonly #stored: Set<string>;
  /** What became of each put that is under way: null, or what it threw. */
  #pending: Promise<unknown>[] = [];
  #bytes = 0;

  /** `stored`: hashes that are there already. */
  constructor(put: Put, stored: Iterable<string> = []) {
    this.#put = put;
    this.#stored = new Set(stored);
  }

  /** Waits while too much is on its way. */
  async put(hash: string, bytes: Uint8Array): Promise<void> {
    if (this.#stored.has(hash)) return;
    this.#stored.add(hash);
    if (this.#pending.length >= MOST_PUTS || this.#bytes + bytes.byteLength > ON_THEIR_WAY_BYTES)
      await this.end();
    this.#bytes += bytes.byteLength;
    this.#pending.push(
      this.#put(hash, bytes).then(
        () => null,
        (error: unknown) => error,
      ),
    );
    if (this.#bytes > ON_THEIR_WAY_BYTES) await this.end();
  }

  /** Waits until everything is stored. */
  async end(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    this.#bytes = 0;
    const failed = (await Promise.all(pending)).find((error) => error !== null);
    if (failed !== undefined) throw failed;
  }
}
