import type { Bucket } from "../../../r2-layout/bucket";
import { attachmentKey } from "../../../r2-layout/session-files";
import {
  attachmentTokens,
  type UnsupportedAttachment,
  unsupportedAttachments,
} from "../../../src/agents/attached";
import type { Team } from "../../../src/config/team";
import type { QuestionAttachments } from "../../../src/coordination";
import { type Attachment, type Excess, excessOf } from "../../../src/protocol/attachments";
import { ProviderError } from "../../../src/providers/provider";
import type { StorageQueue } from "../files/storage-queue";

/** A new attachment of a question, with its contents. */
type NewAttachment = {
  attachment: Attachment;
  bytes: Uint8Array<ArrayBuffer>;
};

/** An attachment of an earlier question of the session. `name` `null` keeps its earlier name. */
type RepeatedAttachment = { sha256: string; name: string | null };

/** An attachment as a request names it. */
export type WantedAttachment = NewAttachment | RepeatedAttachment;

/** Why the attachments of a question are refused. */
export type AttachmentRefusal =
  | { ok: false; code: "attachment_not_found"; sha256: string }
  | { ok: false; code: "attachments_too_large"; excess: Excess }
  | { ok: false; code: "attachment_refused"; refused: UnsupportedAttachment[] };

/** `attached` `null`: the question has no attachments. */
type AcceptedAttachments = { ok: true; attached: QuestionAttachments | null };

/**
 * Checks that the team accepts the question's attachments. `earlier`: attachments of earlier
 * questions, newest last; called at most once, and only if an attachment is repeated.
 */
export function acceptAttachments(
  team: Team,
  wanted: readonly WantedAttachment[],
  earlier: () => readonly Attachment[],
): AcceptedAttachments | AttachmentRefusal {
  const attachments: Attachment[] = [];
  const known = wanted.some((one) => !("bytes" in one)) ? earlier() : [];
  for (const one of wanted) {
    const found = "bytes" in one ? one.attachment : repeated(one, known);
    if (!found)
      return { ok: false, code: "attachment_not_found", sha256: "sha256" in one ? one.sha256 : "" };
    attachments.push(found);
  }
  if (attachments.length === 0) return { ok: true, attached: null };
  const excess = excessOf(attachments);
  if (excess) return { ok: false, code: "attachments_too_large", excess };
  const refused = unsupportedAttachments(team, attachments);
  if (refused.length > 0) return { ok: false, code: "attachment_refused", refused };
  return { ok: true, attached: { attachments, tokens: attachmentTokens(team, attachments) } };
}

function repeated(
  { sha256, name }: RepeatedAttachment,
  earlier: readonly Attachment[],
): Attachment | null {
  const found = earlier.findLast((attachment) => attachment.sha256 === sha256);
  return found ? { ...found, name: name ?? found.name } : null;
}

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
