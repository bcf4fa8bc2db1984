import type {
  AttachmentRefusal,
  WantedAttachment,
} from "../../../durable-objects/session/admission/attachments";
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
import { detectMedia, spokenType } from "./detect-media";
import { ApiError, type Fault } from "../errors";

/** A question as it was sent, taken apart: what is asked, and what comes with it, bytes and all. */
export type Question = { text: string; attachments: readonly WantedAttachment[] };

/** Throws ApiError naming each part that cannot be taken; what earlier turns brought is looked at by the session. */
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
  const said = spokenType(part.media_type);
  const found = detectMedia(bytes, said);
  if (!found) return { problem: NOT_TAKEN, at: "/data" };
  const { kind, mediaType } = found;
  if (type === "image" && kind !== "image")
    return {
      problem: `is no image (PNG, JPEG, GIF, WebP): by its bytes it is ${mediaType}`,
      at: "/data",
    };
  if (said !== undefined && said !== mediaType)
    return { problem: `does not fit the bytes, which are ${mediaType}`, at: "/media_type" };
  const most = MOST_BYTES[kind];
  if (bytes.byteLength > most)
    return { problem: `is over ${most} bytes, the most that is taken of this kind`, at: "/data" };
  const attachment = {
    kind,
    name: name ?? `${kind} ${nth}`,
    media_type: mediaType,
    size: bytes.byteLength,
    sha256: await hashOf(bytes),
  };
  return { attachment, bytes };
}

const NOT_TAKEN =
  "is neither an image (PNG, JPEG, GIF, WebP), nor a PDF, nor sound (WAV of PCM with 8,000 bytes a second or more, MP3, Ogg, FLAC), nor text in UTF-8; video is not taken";

const MOST_BYTES: Record<AttachmentKind, number> = {
  image: ATTACHMENT_LIMITS.bytes,
  pdf: ATTACHMENT_LIMITS.bytes,
  audio: ATTACHMENT_LIMITS.bytes,
  text: ATTACHMENT_LIMITS.textBytes,
};

/** Some providers read as much of broken base64 as they can, and others refuse it: here it is whole or none. */
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
  const message = `More comes with the question than may: at most ${EXCESS[limit](most)}, where what an earlier turn brought counts each time it is named. Leave some of it out.`;
  return new ApiError("attachments_too_large", message, {
    errors: [{ pointer: "/question", detail: message }],
  });
}

/** Why a turn does not begin with what comes with its question, and what to do. */
export function attachmentError(refusal: AttachmentRefusal): ApiError {
  if (refusal.code === "attachment_not_found") {
    const message = `No earlier turn of this session brought anything with the SHA-256 ${refusal.sha256}. Send its bytes as \`data\`.`;
    return new ApiError("attachment_not_found", message);
  }
  if (refusal.code === "attachments_too_large") return tooLarge(refusal.excess);
  const told = refusal.refused.map(
    ({ agent, model, name, mediaType }) =>
      `agent "${agent}" (${model}) does not take "${name}" (${mediaType})`,
  );
  const more = told.length > MOST_TOLD ? ` (and ${told.length - MOST_TOLD} more)` : "";
  const message = `This team cannot take everything that comes with the question: ${told.slice(0, MOST_TOLD).join("; ")}${more}. Leave it out, or give these agents models that take it.${refusal.refused.some(isSound) ? ` ${AUDIO_MODELS_HINT}` : ""}`;
  const errors = refusal.refused
    .slice(0, MOST_ERRORS)
    .map((one, nth) => ({ pointer: "/question", detail: told[nth] ?? one.name }));
  return new ApiError("attachment_refused", message, { errors });
}

const isSound = ({ mediaType }: { mediaType: string }): boolean => mediaType.startsWith("audio/");
const MOST_TOLD = 4;
const MOST_ERRORS = 20;
