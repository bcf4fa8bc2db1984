import type { AttachmentKind } from "../protocol/attachments";
import { isText, markedType } from "../workspace/media-type";

/** What bytes are, by what they begin with; never by what somebody calls them. */

const KINDS: ReadonlyMap<string, AttachmentKind> = new Map([
  ["image/png", "image"],
  ["image/jpeg", "image"],
  ["image/gif", "image"],
  ["image/webp", "image"],
  ["application/pdf", "pdf"],
]);

/** Says nothing of the bytes. */
const ANY_BYTES = "application/octet-stream";
const SAME_TYPES: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
  "application/x-pdf": "application/pdf",
};
const TYPE = /^[a-z0-9][a-z0-9.+-]{0,60}\/[a-z0-9][a-z0-9.+-]{0,60}$/;

/** A type as somebody names it, in its usual spelling and without parameters; undefined where it says nothing. */
export function spokenType(said: string | undefined): string | undefined {
  const [type = ""] = (said ?? "").toLowerCase().split(";");
  const usual = SAME_TYPES[type.trim()] ?? type.trim();
  return usual === "" || usual === ANY_BYTES ? undefined : usual;
}

export type Detected = { kind: AttachmentKind; mediaType: string };

/**
 * The kind and type of these bytes; null if they are none that can be attached. `said`: the type that whoever sent them names, in
 * its usual spelling. Any type may stand on text but that of something else: it changes nothing but what models are told.
 */
export function detectMedia(bytes: Uint8Array, said: string | undefined): Detected | null {
  const marked = markedType(bytes);
  const kind = marked === null ? undefined : KINDS.get(marked);
  if (marked !== null && kind) return { mediaType: marked, kind };
  if (!isText(bytes)) return null;
  const isFitting = said !== undefined && TYPE.test(said) && !MARKS.some(([mediaType]) => mediaType === said);
  return { kind: "text", mediaType: isFitting ? said : "text/plain" };
}
