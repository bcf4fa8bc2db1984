import { Buffer } from "node:buffer";
import type { Team } from "../config/team";
import { byteLength, type QuestionAttachments } from "../coordination";
import { attachmentsHeader, textFileBlock } from "../prompts/task";
import { type Attachment, type Excess, excessOf } from "../protocol/attachments";
import { acceptsMedia, expectedMediaTokens, mediaTokens } from "../providers/accepted-media";
import type { Part } from "../providers/attachment-parts";

/**
 * Attachments of a question for the agents of a team: whether they are accepted, their tokens, and
 * the parts of requests.
 */

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

/** An attachment that an agent's model does not support. */
type UnsupportedAttachment = {
  agent: string;
  model: string;
  name: string;
  mediaType: string;
};

/** Every attachment that an agent does not support; empty if all can be sent. */
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

/** Text around each attachment: its line in the list, and its block. */
const TOKENS_AROUND = 200;
/** The announcement and the text before the list. */
const TOKENS_BEFORE = 1_000;

/** Upper bound of the input tokens of the attachments in one call of any agent. */
export const attachmentTokens = ({ agents }: Team, attachments: readonly Attachment[]): number =>
  Math.max(
    0,
    ...agents.map(({ backend }) =>
      attachments.reduce((sum, one) => sum + tokensOf(backend.model, one), TOKENS_BEFORE),
    ),
  );

/** A text has at most one token per byte. The name appears twice. */
function tokensOf(model: string, { kind, size, name, media_type: mediaType }: Attachment): number {
  const around = TOKENS_AROUND + 2 * byteLength(name);
  return around + (kind === "text" ? size : mediaTokens(model, { kind, size, mediaType }));
}

const BYTES_PER_TOKEN = 4;

/** Expected input tokens of the attachments in one call. Corrected after the call. */
export const expectedAttachmentTokens = (
  model: string,
  attachments: readonly Attachment[],
): number =>
  attachments.reduce((sum, { kind, size, media_type: mediaType }) => {
    const tokens =
      kind === "text"
        ? Math.ceil(size / BYTES_PER_TOKEN)
        : expectedMediaTokens(model, { kind, size, mediaType });
    return sum + TOKENS_AROUND + tokens;
  }, 0);

/**
 * The parts before an agent's first message. `read` is called for one attachment after the other;
 * its errors are thrown.
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
