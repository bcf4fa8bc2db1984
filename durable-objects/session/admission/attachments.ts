import type { Bucket } from "../../../r2-layout/bucket";
import { attachmentKey, queuedAttachmentKey } from "../../../r2-layout/session-files";
import type { QueuedAttachment, WantedAttachment } from "../../../src/agents/attached";
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
 * The contents of attachments in R2, by hash. They are deleted with the session. Contents of queued
 * requests are stored for each request, so that they can be removed with it, and copied when its
 * turn starts. Only reads of calls use the storage queue: writes and removals are few.
 */
export class AttachmentStore {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Stores new attachments. To be awaited before a turn that names them starts. Idempotent. */
  async put(attachments: readonly WantedAttachment[]): Promise<void> {
    for (const wanted of attachments) {
      if (!("attachment" in wanted)) continue;
      const { attachment } = wanted;
      const bytes = await this.#contentsOf(wanted);
      // If the contents of a queued request are lost, the calls that read them say so.
      if (bytes) await this.#write(this.#keyOf(attachment.sha256), attachment, bytes);
    }
  }

  /**
   * Stores the new attachments of a request that is queued. Returns all its attachments in the form
   * in which the queue stores them.
   */
  async putQueued(
    queueId: string,
    attachments: readonly WantedAttachment[],
  ): Promise<WantedAttachment[]> {
    const queued: WantedAttachment[] = [];
    for (const wanted of attachments) {
      if ("bytes" in wanted) {
        const { attachment, bytes } = wanted;
        await this.#write(this.#queuedKeyOf(queueId, attachment), attachment, bytes);
        queued.push({ attachment, queuedAs: queueId });
      } else queued.push(wanted);
    }
    return queued;
  }

  /** Removes the contents that were stored for a queued request. */
  async removeQueued(attachments: readonly WantedAttachment[]): Promise<void> {
    const keys = attachments.flatMap((wanted) =>
      "queuedAs" in wanted ? [this.#queuedKeyOf(wanted.queuedAs, wanted.attachment)] : [],
    );
    if (keys.length > 0) await this.#options.bucket.delete(keys);
  }

  /** The contents of a new attachment; `null` if those of a queued request are lost. */
  async #contentsOf(
    wanted: Extract<WantedAttachment, { attachment: Attachment }>,
  ): Promise<Uint8Array<ArrayBuffer> | ArrayBuffer | null> {
    if ("bytes" in wanted) return wanted.bytes;
    const { queuedAs, attachment }: QueuedAttachment = wanted;
    const object = await this.#options.bucket.get(this.#queuedKeyOf(queuedAs, attachment));
    return object ? object.arrayBuffer() : null;
  }

  async #write(
    key: string,
    { sha256 }: Attachment,
    bytes: Uint8Array<ArrayBuffer> | ArrayBuffer,
  ): Promise<void> {
    await this.#options.bucket.put(key, bytes, { onlyIf: { etagDoesNotMatch: "*" }, sha256 });
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

  #queuedKeyOf(queueId: string, { sha256 }: Attachment): string {
    const { tenant, session } = this.#options;
    return queuedAttachmentKey({ tenant, session }, queueId, sha256);
  }

  #keyOf(sha256: string): string {
    const { tenant, session } = this.#options;
    return attachmentKey(tenant, session, sha256);
  }
}
