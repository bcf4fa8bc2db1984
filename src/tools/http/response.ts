import { abortable } from "../../async/abort";
import type { MutexLease } from "../../async/mutex";
import { formsOf, hideSecrets, SHORTEST_SECRET } from "../../redaction/redact";
import { extensionOf, mediaTypeOf } from "../../workspace/media-type";
import { LARGE_BYTES } from "../results";
import type { ToolResult } from "../tool";

/** Reading what a server answers: no more than a limit, counted while it comes. */

/** Of a response's body. More is no use to a model, and several are read at a time. */
export const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;

/** `isWhole`: whether all of it was read. */
type ReadText = { text: string; isWhole: boolean };

/** Throws what the stream throws; what is beyond the limit is never asked for. */
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
 * The bytes of a response; null: they are more than the limit. `taken`: told after each piece how many there are so far; the next is
 * asked for when it has ended. Throws what the stream or `taken` throws.
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
    // Of one that was read to its end nothing is left to cancel.
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
 * Whether a server that answers so may have done what a request asked of it, well or not. Pure. It has not where it refused (4xx), has no
 * time (503), or says where to send the same request instead (307, 308). Any other redirect may be a way of saying "done, see there".
 */
export function mayHaveActed(status: number): boolean {
  if (status < 400) return status !== 307 && status !== 308;
  return status >= 500 && status !== 503;
}

/** Whether a model can read it. A server that does not say may have sent text. */
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
    return new TextDecoder(); // RangeError, for a name that nobody knows
  }
}

/**
 * How a reply is read that is no text. `lease`: acquired by a large reply. `signal`: aborted when nobody waits any more. `secrets`:
 * what the server was shown to be let in.
 */
export type Reading = { lease: MutexLease; signal: AbortSignal; secrets: readonly string[] };

/**
 * A reply that is no text as a file of the result, which its text names. Of what the server says of it only the type counts, where the
 * bytes may be of it. Throws what reading throws, and the signal's reason.
 */
export async function readFile(
  response: Response,
  { lease, signal, secrets }: Reading,
): Promise<Pick<ToolResult, "text" | "files">> {
  const said = hideSecrets(response.headers.get("content-type") ?? "", secrets);
  const bytes = await readBytes(response, async (taken) => {
    if (taken > LARGE_BYTES) await acquire(lease, signal);
  });
  if (bytes === null)
    return left(lease, `${cut(said)}; not kept: it is over ${MAX_RESPONSE_BYTES} bytes`);
  if (bytes.byteLength === 0) return left(lease, `${cut(said)}, 0 bytes`);
  const mediaType = mediaTypeOf(bytes, said);
  const facts = `${mediaType}, ${bytes.byteLength} bytes`;
  if (holdsAny(bytes, secrets))
    return left(lease, `${facts}; not kept: it repeats what the server was shown to be let in`);
  return {
    text: `[The server sent ${facts}: file 1]`,
    files: [{ mediaType, extension: extensionOf(mediaType), bytes }],
  };
}

const cut = (said: string): string => said.slice(0, 100);

/** Nothing is filed, so that others may come in. */
function left(lease: MutexLease, what: string): Pick<ToolResult, "text"> {
  lease.release();
  return { text: `[The server sent ${what}.]` };
}

/** Waits no longer than the call does. */
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
