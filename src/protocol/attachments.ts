import { z } from "zod";
import { INVISIBLE } from "./invisible";

/**
 * Images and files that come with a question: what a request may bring, and how the log names it. The bytes lie elsewhere, by
 * their hash; no event holds any.
 */

/** What one question may bring. Bytes as they are, not as base64. */
export const ATTACHMENT_LIMITS = {
  count: 16,
  /**
   * Of all together, and so of one: every call of a turn sends all of it, several at a time, and an object has 128 MB for
   * everything (documentation, autumn 2026). `docs/explain/attachments.md` has what was measured.
   */
  bytes: 3_000_000,
  /** Of all text files together: they are read as part of the prompt. */
  textBytes: 400_000,
  nameChars: 200,
} as const;

export const ATTACHMENT_KINDS = ["image", "pdf", "audio", "text"] as const;
export const AttachmentKindSchema = z.enum(ATTACHMENT_KINDS);
export type AttachmentKind = z.infer<typeof AttachmentKindSchema>;

/** Which limit of a question is passed, and what it is. */
export type Excess = { limit: "count" | "bytes" | "textBytes"; most: number };

/** Everything counts each time it comes, whether its bytes are brought or an earlier turn's are named. null: all may come. */
export function excessOf(attachments: readonly Pick<Attachment, "kind" | "size">[]): Excess | null {
  const { count, bytes, textBytes } = ATTACHMENT_LIMITS;
  const sizeOf = (some: typeof attachments) => some.reduce((sum, { size }) => sum + size, 0);
  if (attachments.length > count) return { limit: "count", most: count };
  if (sizeOf(attachments) > bytes) return { limit: "bytes", most: bytes };
  return sizeOf(attachments.filter(({ kind }) => kind === "text")) > textBytes
    ? { limit: "textBytes", most: textBytes }
    : null;
}

const SHA256 = /^[0-9a-f]{64}$/;

/** As the log names it. */
export const AttachmentSchema = z
  .object({
    kind: AttachmentKindSchema,
    name: z.string(),
    /** By what the bytes are, not by what was said of them. */
    media_type: z.string(),
    size: z.int(),
    sha256: z.string(),
  })
  .meta({ id: "Attachment" });
export type Attachment = z.infer<typeof AttachmentSchema>;

/** Four characters of base64 for three bytes. */
const MAX_DATA_CHARS = Math.ceil(ATTACHMENT_LIMITS.bytes / 3) * 4;

const content = {
  /** Base64, without `data:` before it. */
  data: z
    .string()
    .min(1, "is empty")
    .max(MAX_DATA_CHARS, `is over ${ATTACHMENT_LIMITS.bytes} bytes`)
    .optional(),
  /** In place of `data`: something that an earlier turn of the session brought. */
  sha256: z.string().regex(SHA256, "is not a SHA-256 in lower-case hex").optional(),
  name: z
    .string()
    .min(1, "is empty")
    .max(ATTACHMENT_LIMITS.nameChars, `is over ${ATTACHMENT_LIMITS.nameChars} characters`)
    .refine(
      (name) => name.isWellFormed() && !INVISIBLE.test(name),
      "has control characters, line breaks or marks that cannot be seen",
    )
    .optional(),
  /** Checked against the bytes. */
  media_type: z.string().min(1).max(100).optional(),
};

const hasOneSource = ({
  data,
  sha256,
}: {
  data?: string | undefined;
  sha256?: string | undefined;
}): boolean => (data === undefined) !== (sha256 === undefined);
const ONE_SOURCE =
  "needs either data (base64) or sha256 (of something an earlier turn of the session brought)";

/** A part of a question. `text` is said, the others are looked at. */
export const QuestionPartSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({ type: z.literal("image"), ...content }).refine(hasOneSource, ONE_SOURCE),
  z.strictObject({ type: z.literal("file"), ...content }).refine(hasOneSource, ONE_SOURCE),
]);
export type QuestionPart = z.infer<typeof QuestionPartSchema>;
export type AttachedPart = Exclude<QuestionPart, { type: "text" }>;

export const MOST_PARTS = 2 * ATTACHMENT_LIMITS.count;

/** The text of a question in parts: what its text parts say, a paragraph each. */
export const textOfParts = (parts: readonly QuestionPart[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
