/**
 * Determines the media type of bytes by their signature, else by the declared type if the bytes do
 * not contradict it.
 */

/** A signature and its offset, one byte per character. */
type Mark = readonly [at: number, says: string];

const MARKS: readonly (readonly [mediaType: string, marks: readonly Mark[]])[] = [
  ["image/png", [[0, "\x89PNG\r\n\x1a\n"]]],
  ["image/jpeg", [[0, "\xff\xd8\xff"]]],
  ["image/gif", [[0, "GIF87a"]]],
  ["image/gif", [[0, "GIF89a"]]],
  [
    "image/webp",
    [
      [0, "RIFF"],
      [8, "WEBP"],
    ],
  ],
  [
    "audio/wav",
    [
      [0, "RIFF"],
      [8, "WAVE"],
    ],
  ],
  ["audio/flac", [[0, "fLaC"]]],
  ["application/pdf", [[0, "%PDF-"]]],
];
const MARKED_BYTES = 16;
const MARKED: ReadonlySet<string> = new Set(MARKS.map(([mediaType]) => mediaType));

/** Aliases of types with a signature. */
const SAME = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["application/x-pdf", "application/pdf"],
  ["audio/x-wav", "audio/wav"],
  ["audio/wave", "audio/wav"],
  ["audio/vnd.wave", "audio/wav"],
  ["audio/x-flac", "audio/flac"],
  ["audio/mp3", "audio/mpeg"],
  ["audio/x-mp3", "audio/mpeg"],
  ["application/ogg", "audio/ogg"],
]);

const FORM =
  /^(?:application|audio|font|image|message|model|text|video)\/[a-z0-9][a-z0-9.+-]{0,60}$/;
const TEXT_TYPE =
  /^text\/|^(?:application\/(?:json|xml|yaml|x-yaml|toml|javascript|sql)|.*\+(?:json|xml|yaml))$/;

/** The type by signature; `null` if none matches. */
export function markedType(bytes: Uint8Array): string | null {
  const start = String.fromCharCode(...bytes.subarray(0, MARKED_BYTES));
  return (
    MARKS.find(([, marks]) => marks.every(([at, says]) => start.startsWith(says, at)))?.[0] ?? null
  );
}

/** Whether bytes are UTF-8 without control characters. */
export function isText(bytes: Uint8Array): boolean {
  if (
    bytes.some(
      (byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d,
    )
  )
    return false;
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** A declared type in its usual spelling, without parameters. */
export function usualType(said: string): string {
  const named = said.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return SAME.get(named) ?? named;
}

/** Whether the type has a signature. */
export const isMarked = (mediaType: string): boolean => MARKED.has(mediaType);

/**
 * `said` is the type that the sender declares. It is used only if it is well-formed and the bytes
 * do not contradict it.
 */
export function mediaTypeOf(bytes: Uint8Array, said: string | undefined): string {
  const marked = markedType(bytes);
  if (marked !== null) return marked;
  const type = usualType(said ?? "");
  const text = isText(bytes);
  if (FORM.test(type) && !isMarked(type) && (text || !TEXT_TYPE.test(type))) return type;
  return text ? "text/plain" : "application/octet-stream";
}

const EXTENSIONS = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["image/svg+xml", "svg"],
  ["audio/wav", "wav"],
  ["audio/flac", "flac"],
  ["audio/mpeg", "mp3"],
  ["audio/ogg", "ogg"],
  ["video/mp4", "mp4"],
  ["video/webm", "webm"],
  ["application/pdf", "pdf"],
  ["application/zip", "zip"],
  ["application/gzip", "gz"],
  ["application/json", "json"],
  ["application/xml", "xml"],
  ["application/yaml", "yaml"],
  ["text/csv", "csv"],
  ["text/html", "html"],
  ["text/markdown", "md"],
  ["text/xml", "xml"],
]);

/** File extension of a type, without a dot, from a fixed list. */
export const extensionOf = (mediaType: string): string =>
  EXTENSIONS.get(mediaType) ?? (TEXT_TYPE.test(mediaType) ? "txt" : "bin");
