/** Limits of concurrent puts: their number and total size. A larger blob is stored alone. */
const MAX_PENDING_PUTS = 4;
export const MAX_PENDING_BYTES = 4_000_000;

type Put = (hash: string, bytes: Uint8Array) => Promise<void>;

/**
 * Stores blobs with limited concurrency, and each hash only once. If a put fails, a later call of
 * `put` or `end` throws its error.
 */
export class BlobWriter {
  readonly #put: Put;
  readonly #stored: Set<string>;
  /** Running puts. Each promise resolves to `null`, or to the error of the put. */
  #pending: Promise<unknown>[] = [];
  #pendingBytes = 0;

  /** `stored`: hashes of blobs that are already stored. */
  constructor(put: Put, stored: Iterable<string> = []) {
    this.#put = put;
    this.#stored = new Set(stored);
  }

  /** Starts to store a blob. First waits for the running puts if a limit would be exceeded. */
  async put(hash: string, bytes: Uint8Array): Promise<void> {
    if (this.#stored.has(hash)) return;
    this.#stored.add(hash);
    if (
      this.#pending.length >= MAX_PENDING_PUTS ||
      this.#pendingBytes + bytes.byteLength > MAX_PENDING_BYTES
    )
      await this.end();
    this.#pendingBytes += bytes.byteLength;
    this.#pending.push(
      this.#put(hash, bytes).then(
        () => null,
        (error: unknown) => error,
      ),
    );
    if (this.#pendingBytes > MAX_PENDING_BYTES) await this.end();
  }

  /** Waits until all blobs are stored. */
  async end(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    const results = await Promise.all(pending);
    const firstError = results.find((error) => error !== null);
    if (firstError !== undefined) throw firstError;
  }
}
