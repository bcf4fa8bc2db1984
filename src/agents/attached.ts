import { Buffer } from "node:buffer";
import type { Team } from "../config/team";
import { byteLength, type QuestionAttachments } from "../coordination";
import { attachmentsHeader, textFileBlock } from "../prompts/task";
import { type Attachment, type Excess, excessOf } from "../protocol/attachments";
import { acceptsMedia, expectedMediaTokens, mediaTokens } from "../providers/accepted-media";
import type { Part } from "../providers/attachment-parts";

/**
 * Checks the attachments of a question against a team, bounds their input tokens, and converts them
 * to the parts of a request.
 */

/** A new attachment of a question, with its contents. */
type NewAttachment = {
  attachment: Attachment;
  bytes: Uint8Array<ArrayBuffer>;
};

/** A new attachment of a queued question. `queuedAs`: id of the request in the queue. */
export type QueuedAttachment = { attachment: Attachment; queuedAs: string };

/** An attachment of an earlier question of the session. If `name` is `null`, its name stays. */
type RepeatedAttachment = { sha256: string; name: string | null };

/** An attachment in a client's request. */
export type WantedAttachment = NewAttachment | QueuedAttachment | RepeatedAttachment;

/** Why the attachments of a question are refused. */
export type AttachmentRefusal =
  | { ok: false; code: "attachment_not_found"; sha256: string }
  | { ok: false; code: "attachments_too_large"; excess: Excess }
  | { ok: false; code: "attachment_refused"; refused: UnsupportedAttachment[] };

/** `attached` is `null` if the question has no attachments. */
type AcceptedAttachments = { ok: true; attached: QuestionAttachments | null };

/**
 * Checks that the team accepts the question's attachments. `earlier` returns the attachments of
 * earlier questions, newest last. It is called at most once, and only if an attachment is repeated.
 */
export function acceptAttachments(
  team: Team,
  requested: readonly WantedAttachment[],
  earlier: () => readonly Attachment[],
): AcceptedAttachments | AttachmentRefusal {
  const found = findAttachments(requested, earlier);
  if (!found.ok) return found;
  const { attachments } = found;
  if (attachments.length === 0) return { ok: true, attached: null };
  const refused = unsupportedAttachments(team, attachments);
  if (refused.length > 0) return { ok: false, code: "attachment_refused", refused };
  return { ok: true, attached: { attachments, tokens: attachmentTokens(team, attachments) } };
}

/**
 * The attachments of a question, or why they do not exist or are too large. For `earlier` see
 * `acceptAttachments`.
 */
export function findAttachments(
  requested: readonly WantedAttachment[],
  earlier: () => readonly Attachment[],
): { ok: true; attachments: Attachment[] } | AttachmentRefusal {
  const attachments: Attachment[] = [];
  const isAnyRepeated = requested.some((item) => !("attachment" in item));
  const earlierAttachments = isAnyRepeated ? earlier() : [];
  for (const item of requested) {
    const found = "attachment" in item ? item.attachment : findRepeated(item, earlierAttachments);
    if (!found)
      return {
        ok: false,
        code: "attachment_not_found",
        sha256: "sha256" in item ? item.sha256 : "",
      };
    attachments.push(found);
  }
  const excess = excessOf(attachments);
  return excess ? { ok: false, code: "attachments_too_large", excess } : { ok: true, attachments };
}

function findRepeated(
  { sha256, name }: RepeatedAttachment,
  earlier: readonly Attachment[],
): Attachment | null {
  const found = earlier.findLast((attachment) => attachment.sha256 === sha256);
  return found ? { ...found, name: name ?? found.name } : null;
}

/** An attachment that an agent's model does not support. */
type UnsupportedAttachment = {
  agent: string;
  model: string;
  name: string;
  mediaType: string;
};

/** One entry for each agent and each attachment that its model does not support. */
function unsupportedAttachments(
  { agents }: Team,
  attachments: readonly Attachment[],
): UnsupportedAttachment[] {
  return agents.flatMap(({ id, backend }) =>
    attachments
      .filter(({ kind, media_type }) => kind !== "text" && !acceptsMedia(backend, media_type))
      .map(({ name, media_type }) => ({
        agent: id,
        model: backend.model,
        name,
        mediaType: media_type,
      })),
  );
}

/** Tokens of the text around one attachment: its line in the list, and the frame of its block. */
const FRAME_TOKENS = 200;
/** Tokens of the text before the list of attachments. */
const HEADER_TOKENS = 1_000;

/** Upper bound of the input tokens of the attachments in one call of any agent. */
export const attachmentTokens = ({ agents }: Team, attachments: readonly Attachment[]): number =>
  Math.max(
    0,
    ...agents.map(({ backend }) =>
      attachments.reduce(
        (sum, attachment) => sum + tokenBoundOf(backend.model, attachment),
        HEADER_TOKENS,
      ),
    ),
  );

/** A text has at most one token per byte. The name appears twice: in the list and in the block. */
function tokenBoundOf(model: string, attachment: Attachment): number {
  const { kind, size, name, media_type: mediaType } = attachment;
  const frameTokens = FRAME_TOKENS + 2 * byteLength(name);
  return frameTokens + (kind === "text" ? size : mediaTokens(model, { kind, size, mediaType }));
}

const BYTES_PER_TOKEN = 4;

/** Expected input tokens of the attachments in one call. The actual usage later replaces them. */
export const expectedAttachmentTokens = (
  model: string,
  attachments: readonly Attachment[],
): number =>
  attachments.reduce((sum, { kind, size, media_type: mediaType }) => {
    const tokens =
      kind === "text"
        ? Math.ceil(size / BYTES_PER_TOKEN)
        : expectedMediaTokens(model, { kind, size, mediaType });
    return sum + FRAME_TOKENS + tokens;
  }, 0);

/**
 * The parts before an agent's first message. Calls `read` for one attachment after the other, and
 * throws its errors.
 */
export async function toParts(
  nonce: string,
  attachments: readonly Attachment[],
  read: (attachment: Attachment) => Promise<Uint8Array<ArrayBuffer>>,
): Promise<Part[]> {
  const parts: Part[] = [{ type: "text", text: attachmentsHeader(nonce, attachments) }];
  for (const attachment of attachments)
    parts.push(toPart(nonce, attachment, await read(attachment)));
  return parts;
}

function toPart(nonce: string, attachment: Attachment, bytes: Uint8Array<ArrayBuffer>): Part {
  const { kind, name, media_type: mediaType } = attachment;
  switch (kind) {
    case "text":
      return {
        type: "text",
        text: textFileBlock(nonce, attachment, new TextDecoder().decode(bytes)),
      };
    case "image":
      return { type: "image", mediaType, base64: toBase64(bytes) };
    case "pdf":
      return { type: "pdf", name, base64: toBase64(bytes) };
    case "audio":
      return { type: "audio", mediaType, base64: toBase64(bytes) };
  }
}

const toBase64 = (bytes: Uint8Array<ArrayBuffer>): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
