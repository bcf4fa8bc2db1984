import { abortable } from "../../async/abort";
import type { MutexLease } from "../../async/mutex";
import { formsOf, hideSecrets, SHORTEST_SECRET } from "../../redaction/redact";
import { extensionOf, mediaTypeOf } from "../../workspace/media-type";
import { LARGE_BYTES } from "../large-results";
import type { ToolResult } from "../tool";

/** Reads responses up to a limit, counted while they arrive. */

/** Limit of a response body. More is of no use to a model, and several are read at a time. */
export const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;

/** `isWhole`: whether the whole body was read. */
type ReadText = { text: string; isWhole: boolean };

/** Throws the errors of the stream. Does not read beyond the limit. */
export async function readText(response: Response, limit = MAX_RESPONSE_BYTES): Promise<ReadText> {
  const reader = response.body?.getReader();
  if (!reader) return { text: "", isWhole: true };
  const decoder = decoderFor(response.headers.get("content-type") ?? "");
  let text = "";
  let bytes = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const room = limit - bytes;
    bytes += next.value.length;
    text += decoder.decode(next.value.subarray(0, Math.max(0, room)), { stream: true });
    if (bytes <= limit) continue;
    await reader.cancel().catch(() => undefined);
    return { text, isWhole: false };
  }
  return { text: text + decoder.decode(), isWhole: true };
}

/**
 * The bytes of a response; `null` if they exceed the limit. `taken` is called after each piece with
 * the total so far; reading continues when it resolves. Throws the errors of the stream and of
 * `taken`.
 */
async function readBytes(
  response: Response,
  taken: (bytes: number) => Promise<void>,
  limit = MAX_RESPONSE_BYTES,
): Promise<Uint8Array | null> {
  const reader = response.body?.getReader();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      bytes += next.value.length;
      if (bytes > limit) return null;
      pieces.push(next.value);
      await taken(bytes);
    }
    return joined(pieces, bytes);
  } finally {
    // No effect on a body that was read to its end.
    await reader?.cancel().catch(() => undefined);
  }
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/**
 * Whether a request with this status may have taken effect. Pure. It has not if the server refused
 * (4xx), is unavailable (503), or redirects the same request (307, 308). Other redirects can mean
 * "done, see there".
 */
export function mayHaveActed(status: number): boolean {
  if (status < 400) return status !== 307 && status !== 308;
  return status >= 500 && status !== 503;
}

/** Whether the body is text. A missing content type may be text. */
export function isText(contentType: string | null): boolean {
  const [type = ""] = (contentType ?? "").toLowerCase().split(";");
  return type.trim() === "" || /^\s*text\//.test(type) || TEXTUAL.test(type.trim());
}

const TEXTUAL =
  /^application\/(?:[\w.+-]*[+.-])?(?:json|xml|yaml|csv|javascript|ecmascript|graphql|sql|toml|ndjson|jsonl|x-www-form-urlencoded)$/;

function decoderFor(contentType: string): TextDecoder {
  const charset = /charset\s*=\s*"?([\w:.-]+)/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder(); // RangeError: unknown charset
  }
}

/**
 * How to read a binary reply. `lease`: acquired by a large reply. `signal`: aborted when the result
 * is no longer needed. `secrets`: values that the request contained.
 */
export type Reading = { lease: MutexLease; signal: AbortSignal; secrets: readonly string[] };

/**
 * A binary reply as a file of the result. From the server's headers only the media type is used, if
 * the bytes match it. Throws the errors of reading, and the signal's reason.
 */
export async function readFile(
  response: Response,
  { lease, signal, secrets }: Reading,
): Promise<Pick<ToolResult, "text" | "files">> {
  const contentType = hideSecrets(response.headers.get("content-type") ?? "", secrets);
  const bytes = await readBytes(response, async (taken) => {
    if (taken > LARGE_BYTES) await acquire(lease, signal);
  });
  if (bytes === null)
    return left(lease, `${cut(contentType)}; not kept: it is over ${MAX_RESPONSE_BYTES} bytes`);
  if (bytes.byteLength === 0) return left(lease, `${cut(contentType)}, 0 bytes`);
  const mediaType = mediaTypeOf(bytes, contentType);
  const facts = `${mediaType}, ${bytes.byteLength} bytes`;
  if (holdsAny(bytes, secrets))
    return left(lease, `${facts}; not kept: it repeats what the server was shown to be let in`);
  return {
    text: `[The server sent ${facts}: file 1]`,
    files: [{ mediaType, extension: extensionOf(mediaType), bytes }],
  };
}

const cut = (contentType: string): string => contentType.slice(0, 100);

/** No file to store: free the slot. */
function left(lease: MutexLease, what: string): Pick<ToolResult, "text"> {
  lease.release();
  return { text: `[The server sent ${what}.]` };
}

/** Waits for the slot until the call is aborted. */
async function acquire(lease: MutexLease, signal: AbortSignal): Promise<void> {
  if (lease.isHeld) return;
  signal.throwIfAborted();
  await abortable(lease.acquire(), signal);
}

function holdsAny(
  { buffer, byteOffset, byteLength }: Uint8Array,
  secrets: readonly string[],
): boolean {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const long = secrets.filter(({ length }) => length >= SHORTEST_SECRET);
  return long.some((secret) => [...formsOf(secret)].some((form) => bytes.includes(form)));
}
