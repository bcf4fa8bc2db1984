import * as z from "zod";

/** The key in `_meta` under which a call contains its idempotency key. */
export const CALL_KEY = "massgen-edge/idempotency-key";

const CallSchema = z.looseObject({
  method: z.literal("tools/call"),
  params: z.looseObject({ _meta: z.looseObject({ [CALL_KEY]: z.string() }) }),
});

/**
 * A message that we send. `callKey` is the idempotency key of a call; `null` for other messages.
 */
type OutgoingMessage = { callKey: string | null };

/** Reads a message that we send. `fetch` gets it only as JSON, so the JSON is parsed again. */
export function readOutgoing(body: unknown): OutgoingMessage {
  if (typeof body !== "string" || !body.includes(CALL_KEY)) return { callKey: null };
  const call = CallSchema.safeParse(JSON.parse(body));
  return { callKey: call.success ? (call.data.params._meta[CALL_KEY] ?? null) : null };
}

/** A reply with content. A block of the content may contain base64 data. */
const ReplySchema = z.looseObject({ result: z.looseObject({ content: z.array(z.unknown()) }) });
const BytesSchema = z.looseObject({ data: z.string() });
const BlobSchema = z.looseObject({ resource: z.looseObject({ blob: z.string() }) });

/**
 * The message with invalid base64 data replaced by an empty text. Otherwise the SDK would refuse
 * the whole result because of one broken image.
 */
export function withoutBrokenData<T>(message: T): T {
  const reply = ReplySchema.safeParse(message);
  if (!reply.success) return message;
  const { result } = reply.data;
  return { ...message, result: { ...result, content: result.content.map(withoutBrokenBlock) } };
}

function withoutBrokenBlock(block: unknown): unknown {
  const bytes = BytesSchema.safeParse(block);
  if (bytes.success) return isBase64(bytes.data.data) ? block : { ...bytes.data, data: "" };
  const blob = BlobSchema.safeParse(block);
  if (!blob.success || isBase64(blob.data.resource.blob)) return block;
  return { ...blob.data, resource: { ...blob.data.resource, blob: "" } };
}

/** The arguments of a call, as the model writes them. */
export const ArgumentsSchema = z.record(z.string(), z.unknown());

/** A request for input from a person. Contains only the fields that are shown. */
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
 * Servers of protocol revision 2025-11-25 or earlier send input requests in two other ways: as a
 * request during a call (`readQuestion`), or in the error of a call (`readElicitations`).
 */
export const readQuestion = (request: unknown): Question | null =>
  QuestionSchema.safeParse(request).data ?? null;
export const readElicitations = (items: unknown): Question[] =>
  (Array.isArray(items) ? items : []).flatMap(
    (params) => readQuestion({ method: "elicitation/create", params }) ?? [],
  );

/** The bytes of base64 text, decoded like `atob`; `null` if the text is not valid base64. */
export function decodeBase64(data: string): Uint8Array<ArrayBuffer> | null {
  const digits = digitsOf(data);
  if (digits === null) return null;
  const { buffer, byteOffset, byteLength } = Buffer.from(digits, "base64");
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const isBase64 = (data: string): boolean => digitsOf(data) !== null;

/** The base64 digits without white space and padding; `null` if the text is not valid base64. */
function digitsOf(data: string): string | null {
  const compactText = data.replaceAll(/[\t\n\f\r ]+/g, "");
  const digits = compactText.length % 4 === 0 ? compactText.replace(/={1,2}$/, "") : compactText;
  return digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits) ? null : digits;
}
