/** Decodes UTF-8 and keeps a byte order mark. Returns `null` if the bytes are not text. */
export function toText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
