import { isText, typeBySignature } from "./media-type";

/** Content types of agents' files: by name for lists, and by contents for display. */

/** The type for files of an unknown kind. Browsers save such files. */
export const OCTETS = "application/octet-stream";
const PLAIN = "text/plain";
/** The only images that a browser may show. None of these formats can contain a program. */
const SHOWN_IMAGES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "text/html": "html htm xhtml",
    "text/css": "css",
    "text/javascript": "js mjs cjs",
    "text/markdown": "md markdown",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/json": "json map webmanifest",
    "application/xml": "xml xsl xslt",
    "application/yaml": "yaml yml",
    "application/toml": "toml",
    "application/sql": "sql",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "application/gzip": "gz tgz",
    "application/x-tar": "tar",
    "application/wasm": "wasm",
    "image/png": "png",
    "image/jpeg": "jpg jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "image/avif": "avif",
    "image/bmp": "bmp",
    "image/x-icon": "ico",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "font/woff": "woff",
    "font/woff2": "woff2",
    "font/ttf": "ttf",
    "font/otf": "otf",
    [PLAIN]:
      "txt log text ini cfg conf env properties lock diff patch rst tex sh bash zsh fish ps1 bat ts tsx mts cts jsx vue svelte astro py rb go rs java kt c h cc cpp hpp cs swift php pl lua r jl scala clj ex exs erl hs ml sass scss less graphql proto dockerfile makefile license readme gitignore gitattributes editorconfig",
  }).flatMap(([type, extensions]) =>
    extensions.split(" ").map((extension) => [extension, type] as const),
  ),
);

/**
 * The media type that a file's name implies. The contents may differ, because agents choose names.
 * A name without a dot, such as `Makefile`, counts as its own extension.
 */
export function typeByName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return TYPES.get(name.slice(name.lastIndexOf(".") + 1)) ?? OCTETS;
}

/**
 * The content type with which a browser may show the contents in place; `null` if it must save
 * them. Images keep their type. All text is plain text, so that no markup, style or program in it
 * has an effect. The file's name has no influence.
 */
export function inlineType(bytes: Uint8Array): string | null {
  const type = typeBySignature(bytes);
  if (type !== null) return SHOWN_IMAGES.has(type) ? type : null;
  return isText(bytes) ? `${PLAIN}; charset=utf-8` : null;
}
