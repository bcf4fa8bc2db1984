import type { VersionPlace } from "../../r2-layout/contexts";

/** Hash → size of the blobs that an upload must store. */
export type BlobSizes = ReadonlyMap<string, number>;

/** Uploads whose blobs are in memory: with 10,000 files each, less than 4 MB together. */
const MAX_UPLOADS = 2;

/**
 * The blobs that the latest uploads expect. A manifest never changes, so a client that sends its
 * blobs one by one needs the manifest to be read and parsed only once.
 */
export class ExpectedBlobs {
  /** By tenant and version. The most recently used upload is last. */
  readonly #uploads = new Map<string, BlobSizes>();

  /** The blobs of an upload. If they are not in memory, calls `read`; `null` is not remembered. */
  async of(
    { tenant, version }: VersionPlace,
    read: () => Promise<BlobSizes | null>,
  ): Promise<BlobSizes | null> {
    const key = `${tenant}/${version}`;
    const blobs = this.#uploads.get(key) ?? (await read());
    if (blobs === null) return null;
    this.#uploads.delete(key);
    this.#uploads.set(key, blobs);
    const [oldest] = this.#uploads.keys();
    if (this.#uploads.size > MAX_UPLOADS && oldest !== undefined) this.#uploads.delete(oldest);
    return blobs;
  }
}
