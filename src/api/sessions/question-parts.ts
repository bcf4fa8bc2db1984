import type { AttachmentRefusal, WantedAttachment } from "../../agents/attached";
import { hashOf } from "../../workspace/snapshot";
import { type AskedQuestion, textOfQuestion } from "../../protocol/api";
import {
  ATTACHMENT_LIMITS,
  type AttachedPart,
  type AttachmentKind,
  type Excess,
  excessOf,
} from "../../protocol/attachments";
import { AUDIO_MODELS_HINT } from "../../providers/accepted-media";
import { detectMedia, declaredType } from "../../workspace/detect-media";
import { ApiError, type Fault } from "../errors";

/** A parsed question: its text, and its attachments with their bytes. */
export type Question = { text: string; attachments: readonly WantedAttachment[] };

/**
 * Parses a question. Throws an ApiError that lists every invalid part. Attachments of earlier turns
 * are only known by hash here; the session checks whether they exist.
 */
export async function toQuestion(asked: AskedQuestion): Promise<Question> {
  if (typeof asked === "string") return { text: asked, attachments: [] };
  const faults: Fault[] = [];
  const attachments: WantedAttachment[] = [];
  for (const [index, part] of asked.entries()) {
    if (part.type === "text") continue;
    const result = await toAttachment(part, attachments.length + 1);
    if ("problem" in result)
      faults.push({ pointer: `/question/${index}${result.at}`, detail: result.problem });
    else attachments.push(result);
  }
  const [first] = faults;
  if (first)
    throw new ApiError(
      "request_invalid",
      `The request is not valid, at \`${first.pointer}\`: ${first.detail}.`,
      {
        errors: faults,
      },
    );
  const newAttachments = attachments.flatMap((wanted) =>
    "bytes" in wanted ? [wanted.attachment] : [],
  );
  const excess = excessOf(newAttachments);
  if (excess) throw tooLarge(excess);
  return { text: textOfQuestion(asked), attachments };
}

/** `at`: JSON pointer of the invalid field inside its part. */
type Problem = { problem: string; at: "" | "/data" | "/media_type" };

/** `position`: position among the attachments, from 1. It is part of the default name. */
async function toAttachment(
  part: AttachedPart,
  position: number,
): Promise<WantedAttachment | Problem> {
  const { type, data, sha256, name } = part;
  if (data === undefined) return { sha256: sha256 ?? "", name: name ?? null };
  const bytes = decodeBase64(data);
  if (!bytes) return { problem: "is not base64", at: "/data" };
  const declared = declaredType(part.media_type);
  const detected = detectMedia(bytes, declared);
  if (!detected) return { problem: NOT_SUPPORTED, at: "/data" };
  const { kind, mediaType } = detected;
  if (type === "image" && kind !== "image")
    return {
      problem: `is not an image (PNG, JPEG, GIF, WebP): its bytes are ${mediaType}`,
      at: "/data",
    };
  if (declared !== undefined && declared !== mediaType)
    return { problem: `does not fit the bytes, which are ${mediaType}`, at: "/media_type" };
  const maxBytes = MAX_BYTES[kind];
  if (bytes.byteLength > maxBytes)
    return { problem: `is over ${maxBytes} bytes, the limit for this kind`, at: "/data" };
  const attachment = {
    kind,
    name: name ?? `${kind} ${position}`,
    media_type: mediaType,
    size: bytes.byteLength,
    sha256: await hashOf(bytes),
  };
  return { attachment, bytes };
}

const NOT_SUPPORTED =
  "is neither an image (PNG, JPEG, GIF, WebP), nor a PDF, nor audio (PCM WAV with at least 8,000 bytes per second, MP3, Ogg, FLAC), nor UTF-8 text. Video is not supported";

const MAX_BYTES: Record<AttachmentKind, number> = {
  image: ATTACHMENT_LIMITS.bytes,
  pdf: ATTACHMENT_LIMITS.bytes,
  audio: ATTACHMENT_LIMITS.bytes,
  text: ATTACHMENT_LIMITS.textBytes,
};

/** Returns `null` for invalid base64, because providers treat it in different ways. */
function decodeBase64(data: string): Uint8Array<ArrayBuffer> | null {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) return null;
  const units = atob(data);
  const bytes = new Uint8Array(units.length);
  for (let index = 0; index < units.length; index += 1) bytes[index] = units.charCodeAt(index);
  return bytes;
}

const EXCESS_TEXTS: Record<Excess["limit"], (most: number) => string> = {
  count: (most) => `${most} images and files`,
  bytes: (most) => `${most} bytes of images and files`,
  textBytes: (most) => `${most} bytes of text files`,
};

function tooLarge({ limit, most }: Excess): ApiError {
  const message = `The question has too many attachments: at most ${EXCESS_TEXTS[limit](most)} are possible. Attachments of earlier turns count each time they are named. Remove some.`;
  return new ApiError("attachments_too_large", message, {
    errors: [{ pointer: "/question", detail: message }],
  });
}

/** The error for a turn whose attachments are refused: the reason and what to do. */
export function attachmentError(refusal: AttachmentRefusal): ApiError {
  if (refusal.code === "attachment_not_found") {
    const message = `No earlier turn of this session has an attachment with the SHA-256 ${refusal.sha256}. Send the bytes as \`data\`.`;
    return new ApiError("attachment_not_found", message);
  }
  if (refusal.code === "attachments_too_large") return tooLarge(refusal.excess);
  const details = refusal.refused.map(
    ({ agent, model, name, mediaType }) =>
      `agent "${agent}" (${model}) does not support "${name}" (${mediaType})`,
  );
  const more = details.length > MAX_DETAILS ? ` (and ${details.length - MAX_DETAILS} more)` : "";
  const message = `This team does not support all attachments of the question: ${details.slice(0, MAX_DETAILS).join("; ")}${more}. Remove them, or use models that support them.${refusal.refused.some(isAudio) ? ` ${AUDIO_MODELS_HINT}` : ""}`;
  const errors = refusal.refused
    .slice(0, MAX_ERRORS)
    .map(({ name }, index) => ({ pointer: "/question", detail: details[index] ?? name }));
  return new ApiError("attachment_refused", message, { errors });
}

const isAudio = ({ mediaType }: { mediaType: string }): boolean => mediaType.startsWith("audio/");
const MAX_DETAILS = 4;
const MAX_ERRORS = 20;
