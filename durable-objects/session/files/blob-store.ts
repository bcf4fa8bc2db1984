import type { SessionObjects } from "../../../r2-layout/session-files";
import type { BlobSource } from "../../../src/workspace/agent-files";
import { type BlobSize, EMPTY_HASH } from "../../../src/workspace/snapshot";
import { type FileEntry, FileError } from "../../../src/workspace/types";
import type { StorageQueue } from "./storage-queue";
import { FILES, PACK_CACHE_BYTES } from "../../shared/object-limits";
import { Mutex } from "../../../src/async/mutex";
import { PackReader } from "../../../src/workspace/pack-reader";
import type { Sql } from "../object-storage";

/**
 * An error for contents that a tree or a result names, but that are neither in the session's
 * storage nor in R2.
 */
export class LostContents extends Error {
  override readonly name = "LostContents";

  constructor(readonly hash: string) {
    super(`the contents ${hash} are lost`);
  }
}

type Options = { sql: Sql; objects: SessionObjects; storageQueue: StorageQueue };

/**
 * The location of contents in R2: in a pack from byte offset `at`, or as a separate object
 * (`null`).
 */
type StoredAt = { pack: string; at: number } | null;

/**
 * A working copy of contents. `spilled`: it is too large for its row and therefore in R2. `stored`:
 * an uploaded snapshot has the contents too.
 */
type WorkingCopy = { hash: string; spilled: boolean; stored: boolean };

/**
 * Contents of a session's files by hash. Working copies are stored in rows, or in R2 if they are
 * too large for a row. Contents of uploaded snapshots are stored in R2 until the session is erased,
 * so their working copies may be deleted.
 */
export class BlobStore implements BlobSource {
  readonly #options: Options;
  readonly #packs: PackReader;
  /** Held while R2 is read: a pack or a file has up to 16 MiB, so only one is being read. */
  readonly #reading = new Mutex();

  constructor(options: Options) {
    this.#options = options;
    this.#packs = new PackReader(options.objects, PACK_CACHE_BYTES);
  }

  /**
   * Reads contents. Throws `FileError` with code `storage_unavailable` if R2 does not answer, and
   * `LostContents` if the contents are missing.
   */
  async read({ hash }: Pick<FileEntry, "hash">): Promise<Uint8Array<ArrayBuffer>> {
    if (hash === EMPTY_HASH) return new Uint8Array();
    const workingCopy = this.working(hash);
    if (workingCopy) return workingCopy;
    const found = await this.#readBucket(hash).catch(throwUnavailable);
    if (!found) throw new LostContents(hash);
    return found;
  }

  /** The working copy; `null` if it is not in a row. */
  working(hash: string): Uint8Array<ArrayBuffer> | null {
    const query = "SELECT bytes FROM blobs WHERE hash = ?";
    const [row] = this.#options.sql.exec<{ bytes: ArrayBuffer | null }>(query, hash).toArray();
    return row?.bytes ? new Uint8Array(row.bytes) : null;
  }

  /** Whether a row names the contents. They may still be missing in R2 (see `isKept`). */
  has(hash: string): boolean {
    if (hash === EMPTY_HASH) return true;
    const query =
      "SELECT 1 FROM blobs WHERE hash = ?1 UNION ALL SELECT 1 FROM stored_blobs WHERE hash = ?1";
    return this.#options.sql.exec(query, hash).toArray().length > 0;
  }

  /**
   * Whether the contents certainly exist. A row without bytes does not prove it: its contents may
   * never have reached R2.
   */
  isKept(hash: string): boolean {
    if (hash === EMPTY_HASH) return true;
    const query =
      "SELECT 1 FROM blobs WHERE hash = ?1 AND bytes IS NOT NULL UNION ALL SELECT 1 FROM stored_blobs WHERE hash = ?1";
    return this.#options.sql.exec(query, hash).toArray().length > 0;
  }

  /** Whether an uploaded snapshot has the contents. */
  isStored(hash: string): boolean {
    return (
      this.#options.sql.exec("SELECT 1 FROM stored_blobs WHERE hash = ?", hash).toArray().length > 0
    );
  }

  /** The location in R2; `null` if no uploaded snapshot has the contents. */
  storedAt(hash: string): { at: StoredAt } | null {
    const query = "SELECT pack, at FROM stored_blobs WHERE hash = ?";
    const [row] = this.#options.sql
      .exec<{ pack: string | null; at: number }>(query, hash)
      .toArray();
    return row ? { at: row.pack === null ? null : { pack: row.pack, at: row.at } } : null;
  }

  /**
   * Writes those contents to R2 that are too large for a row. To be awaited before `add`. The row
   * is written before the object, so that every object in R2 has a row. An existing object is not
   * replaced. If `signal` is aborted, stops before the next object.
   */
  async spill(blobs: ReadonlyMap<string, Uint8Array>, signal: AbortSignal): Promise<void> {
    const { objects, storageQueue } = this.#options;
    for (const [hash, bytes] of blobs) {
      if (bytes.byteLength <= FILES.rowBytes || this.isStored(hash)) continue;
      signal.throwIfAborted();
      this.#insert(hash, bytes.byteLength, null);
      await storageQueue.take(() => objects.putBlob(hash, bytes));
    }
  }

  /** Adds contents to rows. To be called inside the transaction that stores their hashes. */
  add(blobs: ReadonlyMap<string, Uint8Array>): void {
    for (const [hash, bytes] of blobs) {
      if (hash !== EMPTY_HASH)
        this.#insert(hash, bytes.byteLength, bytes.byteLength <= FILES.rowBytes ? bytes : null);
    }
  }

  /** Records the location of contents in R2. To be called inside a transaction. */
  noteStored({ hash, size }: BlobSize, at: StoredAt): void {
    this.#options.sql.exec(
      "INSERT INTO stored_blobs (hash, size, pack, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      ...[hash, size, at?.pack ?? null, at?.at ?? 0],
    );
  }

  /** The working copies that may be deleted. Those that `keep` has named are not included. */
  deletableCopies(): WorkingCopy[] {
    const query =
      "SELECT blobs.hash AS hash, bytes IS NULL AS spilled, EXISTS (SELECT 1 FROM stored_blobs WHERE stored_blobs.hash = blobs.hash) AS stored FROM deletable_blobs CROSS JOIN blobs ON blobs.hash = deletable_blobs.hash";
    const rows = this.#options.sql
      .exec<{ hash: string; spilled: number; stored: number }>(query)
      .toArray();
    return rows.map(({ hash, spilled, stored }) => ({
      hash,
      spilled: spilled === 1,
      stored: stored === 1,
    }));
  }

  /**
   * Keeps the working copies of these contents as long as the session. To be called inside a
   * transaction.
   */
  keep(hashes: Iterable<string>): void {
    for (const hash of hashes)
      this.#options.sql.exec("DELETE FROM deletable_blobs WHERE hash = ?", hash);
  }

  /**
   * Like `keep`, but only the first call in the session has an effect. To be called inside a
   * transaction.
   */
  keepOnce(hashesOf: () => Iterable<string>): void {
    const { sql } = this.#options;
    const flag = "SELECT 1 FROM meta WHERE key = 'kept_contexts'";
    if (sql.exec(flag).toArray().length > 0) return;
    this.keep(hashesOf());
    sql.exec("INSERT INTO meta (key, value) VALUES ('kept_contexts', '1')");
  }

  /**
   * Records that contents are lost. `where`: the key in R2 that needed the contents. `at`: unix ms.
   * To be called inside a transaction.
   */
  noteLost(hash: string, where: string, at: number): void {
    this.#options.sql.exec(
      "INSERT INTO lost_contents (hash, place, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      hash,
      where,
      at,
    );
  }

  /** Whether the contents were recorded as lost. They may have been written again afterwards. */
  isLost(hash: string): boolean {
    return (
      this.#options.sql.exec("SELECT 1 FROM lost_contents WHERE hash = ? LIMIT 1", hash).toArray()
        .length > 0
    );
  }

  /** Whether there is any working copy. */
  hasWorkingCopies(): boolean {
    return this.#options.sql.exec("SELECT 1 FROM blobs LIMIT 1").toArray().length > 0;
  }

  /**
   * Deletes a row. To be called inside a transaction. If only this row names an object in R2, the
   * caller must erase the object.
   */
  drop(hash: string): void {
    this.#options.sql.exec("DELETE FROM blobs WHERE hash = ?", hash);
    this.#options.sql.exec("DELETE FROM deletable_blobs WHERE hash = ?", hash);
  }

  #insert(hash: string, size: number, bytes: Uint8Array | null): void {
    this.#options.sql.exec(
      "INSERT INTO deletable_blobs (hash) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE hash = ?1) ON CONFLICT DO NOTHING",
      hash,
    );
    this.#options.sql.exec(
      "INSERT INTO blobs (hash, size, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      ...[hash, size, bytes],
    );
  }

  async #readBucket(hash: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const release = await this.#reading.acquire();
    try {
      return await this.#options.storageQueue.take(() => this.#fromBucket(hash));
    } finally {
      release();
    }
  }

  #fromBucket(hash: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const query = "SELECT size, pack, at FROM stored_blobs WHERE hash = ? AND pack IS NOT NULL";
    const [row] = this.#options.sql
      .exec<{ size: number; pack: string; at: number }>(query, hash)
      .toArray();
    return row ? this.#packs.read(row) : this.#options.objects.blob(hash);
  }
}

function throwUnavailable(cause: unknown): never {
  const error = new FileError(
    "storage_unavailable",
    "The file cannot be read right now. Try again in a moment.",
  );
  error.cause = cause;
  throw error;
}
