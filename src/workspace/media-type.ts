/**
 * Determines the media type of bytes from their signature. Without a signature, uses the declared
 * type if the bytes do not contradict it.
 */

/** A part of a signature and its offset. Each character stands for one byte. */
type SignaturePart = readonly [offset: number, text: string];

const SIGNATURES: readonly (readonly [mediaType: string, parts: readonly SignaturePart[]])[] = [
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
/** The first bytes of a file, which contain every signature. */
const SIGNATURE_BYTES = 16;
const TYPES_WITH_SIGNATURE: ReadonlySet<string> = new Set(
  SIGNATURES.map(([mediaType]) => mediaType),
);

/** Other names of media types. */
const ALIASES = new Map([
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

const VALID_TYPE =
  /^(?:application|audio|font|image|message|model|text|video)\/[a-z0-9][a-z0-9.+-]{0,60}$/;
const TEXT_TYPE =
  /^text\/|^(?:application\/(?:json|xml|yaml|x-yaml|toml|javascript|sql)|.*\+(?:json|xml|yaml))$/;

/** The media type by signature; `null` if no signature matches. */
export function typeBySignature(bytes: Uint8Array): string | null {
  const start = String.fromCharCode(...bytes.subarray(0, SIGNATURE_BYTES));
  return (
    SIGNATURES.find(([, parts]) =>
      parts.every(([offset, text]) => start.startsWith(text, offset)),
    )?.[0] ?? null
  );
}

/** Whether bytes are UTF-8 without control characters. */
export function isText(bytes: Uint8Array): boolean {
  for (const byte of bytes) {
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d)
      return false;
  }
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** A declared type in its normal spelling, without parameters. */
export function normalizedType(declared: string): string {
  const type = declared.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return ALIASES.get(type) ?? type;
}

/** Whether files of this media type have a signature. */
export const hasSignature = (mediaType: string): boolean => TYPES_WITH_SIGNATURE.has(mediaType);

/**
 * The media type of bytes. `declared` is the type that the sender declares. This type is used only
 * if it is well-formed and the bytes do not contradict it.
 */
export function mediaTypeOf(bytes: Uint8Array, declared: string | undefined): string {
  const signatureType = typeBySignature(bytes);
  if (signatureType !== null) return signatureType;
  const type = normalizedType(declared ?? "");
  const bytesAreText = isText(bytes);
  if (VALID_TYPE.test(type) && !hasSignature(type) && (bytesAreText || !TEXT_TYPE.test(type)))
    return type;
  return bytesAreText ? "text/plain" : "application/octet-stream";
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

/** The file extension for a media type, without a dot: from a fixed list, else `txt` or `bin`. */
export const extensionOf = (mediaType: string): string =>
  EXTENSIONS.get(mediaType) ?? (TEXT_TYPE.test(mediaType) ? "txt" : "bin");
