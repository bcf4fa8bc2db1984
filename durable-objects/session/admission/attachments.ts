import type { Bucket } from "../../../r2-layout/bucket";
import { attachmentKey } from "../../../r2-layout/session-files";
import type { WantedAttachment } from "../../../src/agents/attached";
import type { Attachment } from "../../../src/protocol/attachments";
import { ProviderError } from "../../../src/providers/provider";
import type { StorageQueue } from "../files/storage-queue";

/** `readMs`: time limit of one read; the time in the queue does not count. */
type Options = {
  bucket: Pick<Bucket, "get" | "put" | "delete">;
  tenant: string;
  session: string;
  storageQueue: Pick<StorageQueue, "take">;
  readMs: number;
};

/**
 * The contents of attachments in R2, by hash. They are deleted with the session. Only reads use the
 * storage queue: writes and removals happen while no turn runs, so they cannot delay calls.
 */
export class AttachmentStore {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Stores new attachments. To be awaited before a turn that names them starts. Idempotent. */
  async put(attachments: readonly WantedAttachment[]): Promise<void> {
    for (const attachment of attachments) {
      if (!("bytes" in attachment)) continue;
      const { sha256 } = attachment.attachment;
      await this.#options.bucket.put(this.#keyOf(sha256), attachment.bytes, {
        onlyIf: { etagDoesNotMatch: "*" },
        sha256,
      });
    }
  }

  /** Removes the contents that were stored for a session that no longer exists. */
  async remove(attachments: readonly WantedAttachment[]): Promise<void> {
    const keys = attachments.flatMap((attachment) =>
      "bytes" in attachment ? [this.#keyOf(attachment.attachment.sha256)] : [],
    );
    if (keys.length > 0) await this.#options.bucket.delete(keys);
  }

  /**
   * Reads the contents of an attachment. Throws `ProviderError`: `transient` if R2 cannot be read,
   * `bad_request` if the contents are lost.
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
    const { storageQueue, readMs } = this.#options;
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
    const object = await this.#options.bucket.get(this.#keyOf(sha256));
    return object ? object.arrayBuffer() : null;
  }

  #keyOf(sha256: string): string {
    const { tenant, session } = this.#options;
    return attachmentKey(tenant, session, sha256);
  }
}
