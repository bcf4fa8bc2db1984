import * as z from "zod";
import rows from "./bad-inputs.json";

/** The bad inputs of `docs/proof/acceptance.md` as data, and the request of each input. */

const TextSchema = z.union([
  z.string(),
  z.array(z.union([z.string(), z.strictObject({ repeat: z.string(), times: z.int() })])),
]);
const BadInputSchema = z.strictObject({
  /** Id of the row in `docs/proof/acceptance.md`. */
  row: z.string().regex(/^[A-F]\d+$/),
  /** Description of the input. */
  input: z.string(),
  method: z.string().default("GET"),
  path: TextSchema,
  /** `null` if the header is not sent. */
  headers: z.record(z.string(), TextSchema.nullable()).default({}),
  /** The body has one of three forms: JSON, text or bytes. There is none if all are omitted. */
  json: z.json().optional(),
  text: TextSchema.optional(),
  bytes: z.array(z.int().min(0).max(255)).optional(),
  /** Whether the body is sent in chunks, without its length. */
  chunked: z.boolean().default(false),
  /** Status and error code of the expected response. */
  status: z.int(),
  code: z.string(),
  /** The expected pointer of the first error. */
  pointer: z.string().optional(),
});
export type BadInput = z.infer<typeof BadInputSchema>;

export const BAD_INPUTS: readonly BadInput[] = BadInputSchema.array().parse(rows);

/** The values of the names that a row has in braces. */
export type Placeholders = Readonly<Record<"session" | "usedKey", string>>;

const PIECE_BYTES = 64 * 1024;

export function toRequest(origin: string, input: BadInput, placeholders: Placeholders): Request {
  const fill = (text: string) =>
    text.replaceAll(/\{(session|usedKey)\}/g, (_, name) =>
      name === "usedKey" ? placeholders.usedKey : placeholders.session,
    );
  const body = bodyOf(input);
  const headers = new Headers(body ? { "content-type": "application/json" } : {});
  for (const [name, value] of Object.entries(input.headers)) {
    if (value === null) headers.delete(name);
    else headers.set(name, fill(toText(value)));
  }
  const url = origin + fill(toText(input.path));
  return new Request(url, {
    method: input.method,
    headers,
    ...(body && { body: input.chunked ? streamInPieces(body) : body }),
  });
}

/** The body as bytes, because a string would set a content type. */
function bodyOf({ json, text, bytes }: BadInput): Uint8Array<ArrayBuffer> | null {
  if (bytes) return Uint8Array.from(bytes);
  const bodyText =
    text === undefined ? (json === undefined ? null : JSON.stringify(json)) : toText(text);
  return bodyText === null ? null : Uint8Array.from(new TextEncoder().encode(bodyText));
}

const toText = (text: z.infer<typeof TextSchema>): string =>
  typeof text === "string"
    ? text
    : text
        .map((part) => (typeof part === "string" ? part : part.repeat.repeat(part.times)))
        .join("");

function streamInPieces(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  let position = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (position >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(position, position + PIECE_BYTES));
      position += PIECE_BYTES;
    },
  });
}
