/** Limits of concurrent puts and of their bytes. A larger blob is awaited alone. */
const MOST_PUTS = 4;
export const ON_THEIR_WAY_BYTES = 4_000_000;

type Put = (hash: string, bytes: Uint8Array) => Promise<void>;

/**
 * Stores blobs with limited concurrency, each hash once. The error of a put is thrown by the next
 * call, at the latest by `end`.
 */
export class BlobWriter {
  readonly #put: Put;
  readonly #stored: Set<string>;
  /** Running puts; each resolves to `null` or its error. */
  #pending: Promise<unknown>[] = [];
  #bytes = 0;

  /** `stored` are hashes that exist already. */
  constructor(put: Put, stored: Iterable<string> = []) {
    this.#put = put;
    this.#stored = new Set(stored);
  }

  /** Waits while too much is in progress. */
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
