import { formsOf, hideSecrets, SHORTEST_SECRET } from "../../redaction/redact";
import { extensionOf, mediaTypeOf } from "../../workspace/media-type";
import type { ToolResult } from "../tool";
import { LARGE_BYTES, type Visit } from "../turnstile";
import { MAX_RESPONSE_BYTES, readBytes } from "./response";

/**
 * How a reply is read that is no text. `visit`: entered by one that is large. `signal`: aborted when nobody waits any more. `secrets`:
 * what the server was shown to be let in.
 */
export type Reading = { visit: Visit; signal: AbortSignal; secrets: readonly string[] };

/**
 * A reply that is no text as a file of the result, which its text names. Of what the server says of it only the type counts, where the
 * bytes may be of it. Throws what reading throws, and the signal's reason.
 */
export async function readFile(
  response: Response,
  { visit, signal, secrets }: Reading,
): Promise<Pick<ToolResult, "text" | "files">> {
  const said = hideSecrets(response.headers.get("content-type") ?? "", secrets);
  const bytes = await readBytes(response, async (taken) => {
    if (taken > LARGE_BYTES) await entered(visit, signal);
  });
  if (bytes === null)
    return left(visit, `${cut(said)}; not kept: it is over ${MAX_RESPONSE_BYTES} bytes`);
  if (bytes.byteLength === 0) return left(visit, `${cut(said)}, 0 bytes`);
  const mediaType = mediaTypeOf(bytes, said);
  const facts = `${mediaType}, ${bytes.byteLength} bytes`;
  if (holdsAny(bytes, secrets))
    return left(visit, `${facts}; not kept: it repeats what the server was shown to be let in`);
  return {
    text: `[The server sent ${facts}: file 1]`,
    files: [{ mediaType, extension: extensionOf(mediaType), bytes }],
  };
}

const cut = (said: string): string => said.slice(0, 100);

/** Nothing is filed, so that others may come in. */
function left(visit: Visit, what: string): Pick<ToolResult, "text"> {
  visit.leave();
  return { text: `[The server sent ${what}.]` };
}

/** Nobody waits for it longer than for the call. */
async function entered(visit: Visit, signal: AbortSignal): Promise<void> {
  if (visit.isInside) return;
  const over = Promise.withResolvers<never>();
  const stop = () => over.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    await Promise.race([visit.enter(), over.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function holdsAny(
  { buffer, byteOffset, byteLength }: Uint8Array,
  secrets: readonly string[],
): boolean {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const long = secrets.filter(({ length }) => length >= SHORTEST_SECRET);
  return long.some((secret) => [...formsOf(secret)].some((form) => bytes.includes(form)));
}
