const encoder = new TextEncoder();

/** UTF-8 bytes. No tokenizer makes more tokens than bytes, so this bounds tokens too. */
export const byteLength = (text: string): number => encoder.encode(text).byteLength;

/** Cuts between characters, never inside one. */
export function truncateTo(maxBytes: number, text: string): string {
  const bytes = encoder.encode(text);
  if (bytes.byteLength <= maxBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true });
}

/**
 * Bytes of a text inside a JSON string. Control characters and lone surrogates take six bytes each.
 */
export const jsonBytes = (text: string): number => byteLength(JSON.stringify(text)) - 2;

/**
 * The longest prefix with at most `maxBytes` inside a JSON string. Never cuts inside a character.
 */
export function jsonPrefix(maxBytes: number, text: string): string {
  if (jsonBytes(text) <= maxBytes) return text;
  let end = 0;
  let left = maxBytes;
  for (const character of text) {
    left -= jsonBytes(character);
    if (left < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}
