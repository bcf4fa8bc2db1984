import type { Bucket } from "../../../r2-layout/bucket";
import { attachmentKey } from "../../../r2-layout/session-files";
import type { WantedAttachment } from "../../../src/agents/attached";
import type { Attachment } from "../../../src/protocol/attachments";
import { ProviderError } from "../../../src/providers/provider";
import type { StorageQueue } from "../files/storage-queue";

/** `readMs`: time limit of one read, without the time in the queue. */
type Place = {
  bucket: Pick<Bucket, "get" | "put" | "delete">;
  tenant: string;
  session: string;
  storageQueue: Pick<StorageQueue, "take">;
  readMs: number;
};

/**
 * The contents of attachments in R2, by hash. They are deleted with the session. Only reads use the
 * R2 queue: writes and removals happen while no turn runs, so they cannot delay calls.
 */
export class AttachmentStore {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Stores new attachments. To be awaited before a turn names them. Idempotent. */
  async put(wanted: readonly WantedAttachment[]): Promise<void> {
    for (const one of wanted) {
      if (!("bytes" in one)) continue;
      const { sha256 } = one.attachment;
      await this.#place.bucket.put(this.#keyOf(sha256), one.bytes, {
        onlyIf: { etagDoesNotMatch: "*" },
        sha256,
      });
    }
  }

  /** Removes the contents that were stored for a session that no longer exists. */
  async remove(wanted: readonly WantedAttachment[]): Promise<void> {
    const keys = wanted.flatMap((one) =>
      "bytes" in one ? [this.#keyOf(one.attachment.sha256)] : [],
    );
    if (keys.length > 0) await this.#place.bucket.delete(keys);
  }

  /**
   * Throws `ProviderError`: `transient` if R2 cannot be read, `bad_request` if the contents are
   * lost.
   */
  async read({ sha256, name }: Attachment): Promise<Uint8Array<ArrayBuffer>> {
    const object = await this.#get(sha256);
    if (!object)
      throw new ProviderError(
        "bad_request",
        "attachment_lost",
        `The contents of ${name} are lost. Attach it again.`,
      );
    return new Uint8Array(object);
  }

  async #get(sha256: string): Promise<ArrayBuffer | null> {
    const { storageQueue, readMs } = this.#place;
    try {
      return await storageQueue.take(() => this.#bytesOf(sha256), readMs);
    } catch (cause) {
      throw new ProviderError(
        "transient",
        "attachment_unreadable",
        "An attachment could not be read.",
        { cause },
      );
    }
  }

  async #bytesOf(sha256: string): Promise<ArrayBuffer | null> {
    const object = await this.#place.bucket.get(this.#keyOf(sha256));
    return object ? object.arrayBuffer() : null;
  }

  #keyOf(sha256: string): string {
    const { tenant, session } = this.#place;
    return attachmentKey(tenant, session, sha256);
  }
}
