import type { AttachmentKind } from "../protocol/attachments";
import { isMarked, isText, markedType, usualType } from "../workspace/media-type";
import { isSound, soundType } from "./detect-sound";

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
const TYPE = /^[a-z0-9][a-z0-9.+-]{0,60}\/[a-z0-9][a-z0-9.+-]{0,60}$/;

/** A type as somebody names it, in its usual spelling and without parameters; undefined where it says nothing. */
export function spokenType(said: string | undefined): string | undefined {
  const usual = usualType(said ?? "");
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
  const sound = soundType(bytes);
  if (sound !== null) return { mediaType: sound, kind: "audio" };
  if (!isText(bytes)) return null;
  const isFitting = said !== undefined && TYPE.test(said) && !isMarked(said) && !isSound(said);
  return { kind: "text", mediaType: isFitting ? said : "text/plain" };
}
