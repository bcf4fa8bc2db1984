import * as z from "zod";
import { INVISIBLE } from "./invisible";

/**
 * Images and files of a question, in requests and in the log. Events do not contain the bytes of an
 * attachment: the bytes are stored separately, by their hash.
 */

/** Limits of one question. Sizes are those of the decoded bytes, not of base64. */
export const ATTACHMENT_LIMITS = {
  /** Number of attachments of a question. */
  count: 16,
  /**
   * Size of all attachments together. Every call of a turn sends all attachments, and several calls
   * run at a time. But a Durable Object has only 128 MB of memory (documentation, autumn 2026). See
   * `docs/explain/attachments.md` for measurements.
   */
  bytes: 3_000_000,
  /** Size of all text files together. It is lower, because text files become part of the prompt. */
  textBytes: 400_000,
  /** Length of an attachment's name in characters. */
  nameChars: 200,
} as const;

export const ATTACHMENT_KINDS = ["image", "pdf", "audio", "text"] as const;
export const AttachmentKindSchema = z.enum(ATTACHMENT_KINDS);
export type AttachmentKind = z.infer<typeof AttachmentKindSchema>;

/** A limit of `ATTACHMENT_LIMITS` that a question exceeds. `most`: the value of the limit. */
export type Excess = { limit: "count" | "bytes" | "textBytes"; most: number };

/**
 * Returns the first limit that the attachments exceed; `null` if they exceed none. An attachment
 * that refers to bytes of an earlier turn counts like any other.
 */
export function excessOf(attachments: readonly Pick<Attachment, "kind" | "size">[]): Excess | null {
  const { count, bytes, textBytes } = ATTACHMENT_LIMITS;
  const sizeOf = (some: typeof attachments) => some.reduce((sum, { size }) => sum + size, 0);
  const textFiles = attachments.filter(({ kind }) => kind === "text");
  if (attachments.length > count) return { limit: "count", most: count };
  if (sizeOf(attachments) > bytes) return { limit: "bytes", most: bytes };
  return sizeOf(textFiles) > textBytes ? { limit: "textBytes", most: textBytes } : null;
}

const SHA256 = /^[0-9a-f]{64}$/;

/** An attachment in the log. */
export const AttachmentSchema = z
  .object({
    kind: AttachmentKindSchema.describe("Kind of the content"),
    name: z.string().describe("File name; generated if the request gave none"),
    media_type: z
      .string()
      .describe(
        "Media type, detected from the bytes. For text, the type in the request, or `text/plain`",
      ),
    size: z.int().describe("Size in bytes"),
    sha256: z.string().describe("SHA-256 of the bytes, in lower-case hex"),
  })
  .meta({ id: "Attachment" });
export type Attachment = z.infer<typeof AttachmentSchema>;

/** Base64 needs four characters for three bytes. */
const MAX_DATA_CHARS = Math.ceil(ATTACHMENT_LIMITS.bytes / 3) * 4;

/** Fields of an image or file part: exactly one of `data` and `sha256` is required. */
const contentFields = {
  data: z
    .string()
    .min(1, "is empty")
    .max(MAX_DATA_CHARS, `is over ${ATTACHMENT_LIMITS.bytes} bytes`)
    .optional()
    .describe("The bytes in base64, without a `data:` prefix. Required unless `sha256` is given"),
  sha256: z
    .string()
    .regex(SHA256, "is not a SHA-256 in lower-case hex")
    .optional()
    .describe(
      "SHA-256 of an attachment of an earlier turn of this session, in lower-case hex. Replaces `data`",
    ),
  name: z
    .string()
    .min(1, "is empty")
    .max(ATTACHMENT_LIMITS.nameChars, `is over ${ATTACHMENT_LIMITS.nameChars} characters`)
    .refine(
      (name) => name.isWellFormed() && !INVISIBLE.test(name),
      "has control characters, line breaks or marks that cannot be seen",
    )
    .optional()
    .describe("File name. Omitted: the name in the earlier turn, or a generated name"),
  media_type: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("Media type. It must fit the bytes. Omitted: detected from the bytes"),
};

const hasOneSource = ({
  data,
  sha256,
}: {
  data?: string | undefined;
  sha256?: string | undefined;
}): boolean => (data === undefined) !== (sha256 === undefined);
const ONE_SOURCE =
  "needs either data (base64) or sha256 (of an attachment of an earlier turn of this session)";

const type = <Type extends string>(name: Type) => z.literal(name).describe("Kind of the part");

/** A part of a question: text, or an attachment. */
export const QuestionPartSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: type("text"), text: z.string().describe("Text of the question") }),
  z.strictObject({ type: type("image"), ...contentFields }).refine(hasOneSource, ONE_SOURCE),
  z.strictObject({ type: type("file"), ...contentFields }).refine(hasOneSource, ONE_SOURCE),
]);
export type QuestionPart = z.infer<typeof QuestionPartSchema>;
export type AttachedPart = Exclude<QuestionPart, { type: "text" }>;

/** Maximum number of parts of a question: text can come before each attachment. */
export const MOST_PARTS = 2 * ATTACHMENT_LIMITS.count;

/** The text of a question in parts: one paragraph per text part. */
export const textOfParts = (parts: readonly QuestionPart[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
