import type { AttachmentKind } from "../protocol/attachments";

/** What bytes are, by what they begin with; never by what somebody calls them. */

/** What stands where, one byte a character. */
type Mark = readonly [at: number, says: string];

const MARKS: readonly (readonly [mediaType: string, kind: AttachmentKind, marks: readonly Mark[]])[] = [
  ["image/png", "image", [[0, "\x89PNG\r\n\x1a\n"]]],
  ["image/jpeg", "image", [[0, "\xff\xd8\xff"]]],
  ["image/gif", "image", [[0, "GIF87a"]]],
  ["image/gif", "image", [[0, "GIF89a"]]],
  [
    "image/webp",
    "image",
    [
      [0, "RIFF"],
      [8, "WEBP"],
    ],
  ],
  ["application/pdf", "pdf", [[0, "%PDF-"]]],
];
const MARKED_BYTES = 16;

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
  const start = String.fromCharCode(...bytes.subarray(0, MARKED_BYTES));
  const known = MARKS.find(([, , marks]) => marks.every(([at, says]) => start.startsWith(says, at)));
  if (known) return { mediaType: known[0], kind: known[1] };
  if (!isText(bytes)) return null;
  const isFitting = said !== undefined && TYPE.test(said) && !MARKS.some(([mediaType]) => mediaType === said);
  return { kind: "text", mediaType: isFitting ? said : "text/plain" };
}

/** UTF-8 without the control characters that no text has. */
function isText(bytes: Uint8Array): boolean {
  if (bytes.some((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
