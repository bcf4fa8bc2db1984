import { abortable, withoutFrames } from "../../async/abort";
import type { MutexLease } from "../../async/mutex";
import { formsOf, hideSecrets, SHORTEST_SECRET } from "../../redaction/redact";
import { extensionOf, mediaTypeOf } from "../../workspace/media-type";
import { LARGE_BYTES } from "../large-results";
import type { ToolResult } from "../tool";

/** Reads responses up to a limit. Bytes are counted while they arrive. */

/** Limit of a response body. Several bodies are in memory at a time; a model cannot use more. */
export const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;

const rethrow = (error: unknown): never => {
  throw withoutFrames(error);
};

/** The text of a body. `isWhole`: whether the whole body was read. */
type ReadText = { text: string; isWhole: boolean };

/** Reads a body as text, up to the limit. Throws the errors of the stream. */
export async function readText(response: Response, limit = MAX_RESPONSE_BYTES): Promise<ReadText> {
  const reader = response.body?.getReader();
  if (!reader) return { text: "", isWhole: true };
  const decoder = decoderFor(response.headers.get("content-type") ?? "");
  let text = "";
  let bytes = 0;
  for (
    let next = await reader.read().catch(rethrow);
    !next.done;
    next = await reader.read().catch(rethrow)
  ) {
    const remaining = limit - bytes;
    bytes += next.value.length;
    text += decoder.decode(next.value.subarray(0, Math.max(0, remaining)), { stream: true });
    if (bytes <= limit) continue;
    await reader.cancel().catch(() => undefined);
    return { text, isWhole: false };
  }
  return { text: text + decoder.decode(), isWhole: true };
}

/**
 * Reads the bytes of a response; returns `null` if they exceed the limit. After each piece, it
 * calls `onBytes` with the number of bytes so far, and waits for `onBytes` before it reads on.
 * Throws the errors of the stream and of `onBytes`.
 */
async function readBytes(
  response: Response,
  onBytes: (bytes: number) => Promise<void>,
  limit = MAX_RESPONSE_BYTES,
): Promise<Uint8Array | null> {
  const reader = response.body?.getReader();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (
      let next = await reader?.read().catch(rethrow);
      next && !next.done;
      next = await reader?.read().catch(rethrow)
    ) {
      bytes += next.value.length;
      if (bytes > limit) return null;
      pieces.push(next.value);
      await onBytes(bytes);
    }
    return joinPieces(pieces, bytes);
  } finally {
    // Cancelling has no effect if the body was read to its end.
    await reader?.cancel().catch(() => undefined);
  }
}

function joinPieces(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

/**
 * Whether a request that got this status may have taken effect. It had no effect if the server
 * refused it (4xx), is unavailable (503), or redirects the same request (307, 308). Other redirects
 * can mean that the request is done and its result is at another address.
 */
export function mayHaveActed(status: number): boolean {
  if (status < 400) return status !== 307 && status !== 308;
  return status >= 500 && status !== 503;
}

/** Whether a body of this type is read as text. A body without a content type is too. */
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

export type ReadOptions = {
  /** Acquired if the body is large. */
  lease: MutexLease;
  /** Aborted when the result is no longer needed. */
  signal: AbortSignal;
  /** Secrets that the request contained. */
  secrets: readonly string[];
};

/**
 * Reads a binary body as a file of the result. The server's media type is used only if the bytes
 * match it. Throws the errors of the stream, and the signal's reason.
 */
export async function readFile(
  response: Response,
  { lease, signal, secrets }: ReadOptions,
): Promise<Pick<ToolResult, "text" | "files">> {
  const contentType = hideSecrets(response.headers.get("content-type") ?? "", secrets);
  const bytes = await readBytes(response, async (bytesSoFar) => {
    if (bytesSoFar > LARGE_BYTES) await acquire(lease, signal);
  });
  if (bytes === null)
    return resultWithoutFile(
      lease,
      `${shortenType(contentType)}; not kept: it is over ${MAX_RESPONSE_BYTES} bytes`,
    );
  if (bytes.byteLength === 0)
    return resultWithoutFile(lease, `${shortenType(contentType)}, 0 bytes`);
  const mediaType = mediaTypeOf(bytes, contentType);
  const facts = `${mediaType}, ${bytes.byteLength} bytes`;
  if (containsAnyOf(bytes, secrets))
    return resultWithoutFile(
      lease,
      `${facts}; not kept: it repeats what the server was shown to be let in`,
    );
  return {
    text: `[The server sent ${facts}: file 1]`,
    files: [{ mediaType, extension: extensionOf(mediaType), bytes }],
  };
}

const shortenType = (contentType: string): string => contentType.slice(0, 100);

/** The result without a file. Releases the lease, because nothing is stored. */
function resultWithoutFile(lease: MutexLease, description: string): Pick<ToolResult, "text"> {
  lease.release();
  return { text: `[The server sent ${description}.]` };
}

/** Acquires the lease. Stops waiting, and throws the signal's reason, if the call is aborted. */
async function acquire(lease: MutexLease, signal: AbortSignal): Promise<void> {
  if (lease.isHeld) return;
  signal.throwIfAborted();
  await abortable(lease.acquire(), signal);
}

function containsAnyOf(
  { buffer, byteOffset, byteLength }: Uint8Array,
  secrets: readonly string[],
): boolean {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const longSecrets = secrets.filter(({ length }) => length >= SHORTEST_SECRET);
  return longSecrets.some((secret) => [...formsOf(secret)].some((form) => bytes.includes(form)));
}
