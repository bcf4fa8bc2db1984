import { z } from "zod";

/** Under this key of `_meta` a server finds what it may tell repeats of a call by. */
export const CALL_KEY = "massgen-edge/idempotency-key";

const CallSchema = z.looseObject({
  method: z.literal("tools/call"),
  params: z.looseObject({ _meta: z.looseObject({ [CALL_KEY]: z.string() }) }),
});

/** Of a message that we send: the key of the call, if it is one. */
type OutgoingMessage = { callKey: string | null };

/** Reads our own JSON again, at the only place where a request is seen whole. */
export function readOutgoing(body: unknown): OutgoingMessage {
  if (typeof body !== "string" || !body.includes(CALL_KEY)) return { callKey: null };
  const call = CallSchema.safeParse(JSON.parse(body));
  return { callKey: call.success ? (call.data.params._meta[CALL_KEY] ?? null) : null };
}

/** A reply as far as its data in base64 is concerned. */
const ReplySchema = z.looseObject({ result: z.looseObject({ content: z.array(z.unknown()) }) });
const BytesSchema = z.looseObject({ data: z.string() });
const BlobSchema = z.looseObject({ resource: z.looseObject({ blob: z.string() }) });

/**
 * The message without data that is not base64: the SDK would refuse all of a result for one broken image, as if the call had come to
 * nothing. Everything else is as it was.
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

/** What a model wrote as arguments. */
export const ArgumentsSchema = z.record(z.string(), z.unknown());

/** What a server asks of a person before it goes on; only what is shown of it. */
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

/** The same from a server of the generation before: as a request of its own while a call runs, or as the call's error. */
export const readQuestion = (request: unknown): Question | null =>
  QuestionSchema.safeParse(request).data ?? null;
export const readElicitations = (told: unknown): Question[] =>
  (Array.isArray(told) ? told : []).flatMap(
    (params) => readQuestion({ method: "elicitation/create", params }) ?? [],
  );

/** What base64 holds, read as the web's `atob` reads it; null if it is none. */
export function decodeBase64(data: string): Uint8Array<ArrayBuffer> | null {
  const digits = digitsOf(data);
  if (digits === null) return null;
  const { buffer, byteOffset, byteLength } = Buffer.from(digits, "base64");
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const isBase64 = (data: string): boolean => digitsOf(data) !== null;

/** Without what stands between and after them. */
function digitsOf(data: string): string | null {
  const packed = data.replaceAll(/[\t\n\f\r ]+/g, "");
  const digits = packed.length % 4 === 0 ? packed.replace(/={1,2}$/, "") : packed;
  return digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits) ? null : digits;
}
