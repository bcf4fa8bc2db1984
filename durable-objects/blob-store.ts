import type { Bucket } from "../r2-layout/bucket";
import { blobKey } from "../r2-layout/session-files";
import type { BlobSource } from "../src/workspace/agent-files";
import type { FileEntry } from "../src/workspace/types";
import { FILES } from "./limits";

type Options = { sql: SqlStorage; bucket: Bucket; tenant: string; session: string };

/**
 * Contents of a session's files by their hash. What fits into a row lies in it; what does not lies in R2, put there before
 * anything that names it is written.
 */
export class BlobStore implements BlobSource {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Throws if the contents are nowhere: whoever named them lost them. */
  async read({ hash }: FileEntry): Promise<Uint8Array<ArrayBuffer>> {
    const { bucket, tenant, session } = this.#options;
    const kept = this.#row(hash)?.bytes;
    if (kept) return new Uint8Array(kept);
    const object = await bucket.get(blobKey(tenant, session, hash));
    if (!object) throw new Error(`the contents ${hash} are lost`);
    return new Uint8Array(await object.arrayBuffer());
  }

  has(hash: string): boolean {
    return this.#row(hash) !== null;
  }

  /** Puts what is too large for a row where it belongs; to be awaited before `add`. An object that exists already is as good. */
  async spill(blobs: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const { bucket, tenant, session } = this.#options;
    for (const [hash, bytes] of blobs) {
      if (bytes.byteLength <= FILES.rowBytes || this.has(hash)) continue;
      await bucket.put(blobKey(tenant, session, hash), bytes, { onlyIf: { etagDoesNotMatch: "*" }, sha256: hash });
    }
  }

  /** Inside the transaction of what names them. */
  add(blobs: ReadonlyMap<string, Uint8Array>): void {
    for (const [hash, bytes] of blobs) {
      const kept = bytes.byteLength <= FILES.rowBytes ? bytes : null;
      this.#options.sql.exec(
        "INSERT INTO blobs (hash, size, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        hash,
        bytes.byteLength,
        kept,
      );
    }
  }

  #row(hash: string): { bytes: ArrayBuffer | null } | null {
    const query = "SELECT bytes FROM blobs WHERE hash = ?";
    return this.#options.sql.exec<{ bytes: ArrayBuffer | null }>(query, hash).toArray()[0] ?? null;
  }
}
