import { z } from "zod";

/** Key in `_meta` of the idempotency key of a call. */
export const CALL_KEY = "massgen-edge/idempotency-key";

const CallSchema = z.looseObject({
  method: z.literal("tools/call"),
  params: z.looseObject({ _meta: z.looseObject({ [CALL_KEY]: z.string() }) }),
});

/** The key of the call in a message that we send; `null` for other messages. */
type OutgoingMessage = { callKey: string | null };

/** Parses our own JSON again: only here the whole request is available. */
export function readOutgoing(body: unknown): OutgoingMessage {
  if (typeof body !== "string" || !body.includes(CALL_KEY)) return { callKey: null };
  const call = CallSchema.safeParse(JSON.parse(body));
  return { callKey: call.success ? (call.data.params._meta[CALL_KEY] ?? null) : null };
}

/** The part of a reply that contains base64 data. */
const ReplySchema = z.looseObject({ result: z.looseObject({ content: z.array(z.unknown()) }) });
const BytesSchema = z.looseObject({ data: z.string() });
const BlobSchema = z.looseObject({ resource: z.looseObject({ blob: z.string() }) });

/**
 * The message without invalid base64 data: the SDK would refuse the whole result for one broken
 * image. Everything else is unchanged.
 */
export function withoutBrokenData<T>(message: T): T {
  const reply = ReplySchema.safeParse(message);
  if (!reply.success) return message;
  const { result } = reply.data;
  return { ...message, result: { ...result, content: result.content.map(withoutBroken) } };
}

function withoutBroken(block: unknown): unknown {
  const bytes = BytesSchema.safeParse(block);
  if (bytes.success) return isBase64(bytes.data.data) ? block : { ...bytes.data, data: "" };
  const blob = BlobSchema.safeParse(block);
  if (!blob.success || isBase64(blob.data.resource.blob)) return block;
  return { ...blob.data, resource: { ...blob.data.resource, blob: "" } };
}

/** Arguments from a model. */
export const ArgumentsSchema = z.record(z.string(), z.unknown());

/** A request for input from a person; only the fields that are shown. */
const QuestionSchema = z.looseObject({
  method: z.string(),
  params: z
    .looseObject({
      mode: z.string().optional(),
      message: z.string().optional(),
      url: z.string().optional(),
    })
    .optional(),
});
export const InputRequiredSchema = z.looseObject({
  resultType: z.literal("input_required"),
  inputRequests: z.record(z.string(), QuestionSchema).optional(),
});
export type Question = z.infer<typeof QuestionSchema>;

/**
 * The same from servers of the previous protocol generation: as a request during a call, or as the
 * call's error.
 */
export const readQuestion = (request: unknown): Question | null =>
  QuestionSchema.safeParse(request).data ?? null;
export const readElicitations = (items: unknown): Question[] =>
  (Array.isArray(items) ? items : []).flatMap(
    (params) => readQuestion({ method: "elicitation/create", params }) ?? [],
  );

/** The bytes of base64 text, decoded like the web's `atob`; `null` if it is not valid. */
export function decodeBase64(data: string): Uint8Array<ArrayBuffer> | null {
  const digits = digitsOf(data);
  if (digits === null) return null;
  const { buffer, byteOffset, byteLength } = Buffer.from(digits, "base64");
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const isBase64 = (data: string): boolean => digitsOf(data) !== null;

/** The digits without white space and padding; `null` if the text is not base64. */
function digitsOf(data: string): string | null {
  const packed = data.replaceAll(/[\t\n\f\r ]+/g, "");
  const digits = packed.length % 4 === 0 ? packed.replace(/={1,2}$/, "") : packed;
  return digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits) ? null : digits;
}
