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

/** Text whose type somebody may name; it changes nothing but what models are told. */
const TEXT_TYPES = /^(text\/[a-z0-9.+-]{1,60}|application\/(json|xml|yaml|x-yaml|toml|javascript|sql))$/;

export type Detected = { kind: AttachmentKind; mediaType: string };

/** The kind and type of these bytes; null if they are none that can be attached. `said`: the type that whoever sent them names. */
export function detectMedia(bytes: Uint8Array, said: string | undefined): Detected | null {
  const marked = markedType(bytes);
  const kind = marked === null ? undefined : KINDS.get(marked);
  if (marked !== null && kind) return { mediaType: marked, kind };
  if (!isText(bytes)) return null;
  return { kind: "text", mediaType: said !== undefined && TEXT_TYPES.test(said) ? said : "text/plain" };
}
