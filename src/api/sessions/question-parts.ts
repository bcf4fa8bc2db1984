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

/** Throws ApiError with every invalid part. The session checks attachments of earlier turns. */
export async function toQuestion(asked: AskedQuestion): Promise<Question> {
  if (typeof asked === "string") return { text: asked, attachments: [] };
  const faults: Fault[] = [];
  const attachments: WantedAttachment[] = [];
  for (const [index, part] of asked.entries()) {
    if (part.type === "text") continue;
    const taken = await toAttachment(part, attachments.length + 1);
    if ("problem" in taken)
      faults.push({ pointer: `/question/${index}${taken.at}`, detail: taken.problem });
    else attachments.push(taken);
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
  const excess = excessOf(attachments.flatMap((one) => ("bytes" in one ? [one.attachment] : [])));
  if (excess) throw tooLarge(excess);
  return { text: textOfQuestion(asked), attachments };
}

type Problem = { problem: string; at: "" | "/data" | "/media_type" };

async function toAttachment(part: AttachedPart, nth: number): Promise<WantedAttachment | Problem> {
  const { type, data, sha256, name } = part;
  if (data === undefined) return { sha256: sha256 ?? "", name: name ?? null };
  const bytes = decoded(data);
  if (!bytes) return { problem: "is not base64", at: "/data" };
  const declared = declaredType(part.media_type);
  const found = detectMedia(bytes, declared);
  if (!found) return { problem: NOT_SUPPORTED, at: "/data" };
  const { kind, mediaType } = found;
  if (type === "image" && kind !== "image")
    return {
      problem: `is not an image (PNG, JPEG, GIF, WebP): its bytes are ${mediaType}`,
      at: "/data",
    };
  if (declared !== undefined && declared !== mediaType)
    return { problem: `does not fit the bytes, which are ${mediaType}`, at: "/media_type" };
  const most = MOST_BYTES[kind];
  if (bytes.byteLength > most)
    return { problem: `is over ${most} bytes, the limit for this kind`, at: "/data" };
  const attachment = {
    kind,
    name: name ?? `${kind} ${nth}`,
    media_type: mediaType,
    size: bytes.byteLength,
    sha256: await hashOf(bytes),
  };
  return { attachment, bytes };
}

const NOT_SUPPORTED =
  "is neither an image (PNG, JPEG, GIF, WebP), nor a PDF, nor audio (PCM WAV with at least 8,000 bytes per second, MP3, Ogg, FLAC), nor UTF-8 text. Video is not supported";

const MOST_BYTES: Record<AttachmentKind, number> = {
  image: ATTACHMENT_LIMITS.bytes,
  pdf: ATTACHMENT_LIMITS.bytes,
  audio: ATTACHMENT_LIMITS.bytes,
  text: ATTACHMENT_LIMITS.textBytes,
};

/** The decoded bytes; `null` for invalid base64, which providers treat in different ways. */
function decoded(data: string): Uint8Array<ArrayBuffer> | null {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) return null;
  const units = atob(data);
  const bytes = new Uint8Array(units.length);
  for (let nth = 0; nth < units.length; nth += 1) bytes[nth] = units.charCodeAt(nth);
  return bytes;
}

const EXCESS: Record<Excess["limit"], (most: number) => string> = {
  count: (most) => `${most} images and files`,
  bytes: (most) => `${most} bytes of images and files`,
  textBytes: (most) => `${most} bytes of text files`,
};

function tooLarge({ limit, most }: Excess): ApiError {
  const message = `The question has too many attachments: at most ${EXCESS[limit](most)} are possible. Attachments of earlier turns count each time they are named. Remove some.`;
  return new ApiError("attachments_too_large", message, {
    errors: [{ pointer: "/question", detail: message }],
  });
}

/** Why a turn cannot start with the question's attachments, and what to do. */
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
  const more = details.length > MOST_DETAILS ? ` (and ${details.length - MOST_DETAILS} more)` : "";
  const message = `This team does not support all attachments of the question: ${details.slice(0, MOST_DETAILS).join("; ")}${more}. Remove them, or use models that support them.${refusal.refused.some(isSound) ? ` ${AUDIO_MODELS_HINT}` : ""}`;
  const errors = refusal.refused
    .slice(0, MOST_ERRORS)
    .map((one, nth) => ({ pointer: "/question", detail: details[nth] ?? one.name }));
  return new ApiError("attachment_refused", message, { errors });
}

const isSound = ({ mediaType }: { mediaType: string }): boolean => mediaType.startsWith("audio/");
const MOST_DETAILS = 4;
const MOST_ERRORS = 20;
