const encoder = new TextEncoder();

/**
 * UTF-8 bytes. A text never has more tokens than bytes, so this is an upper bound of its tokens.
 */
export const byteLength = (text: string): number => encoder.encode(text).byteLength;

/** The longest prefix with at most `maxBytes`. Never cuts inside a character. */
export function truncateTo(maxBytes: number, text: string): string {
  const bytes = encoder.encode(text);
  if (bytes.byteLength <= maxBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true });
}

/**
 * Bytes of a text inside a JSON string. Most control characters and lone surrogates need six bytes
 * each.
 */
export const jsonBytes = (text: string): number => byteLength(JSON.stringify(text)) - 2;

/**
 * The longest prefix with at most `maxBytes` inside a JSON string. Never cuts inside a character.
 */
export function jsonPrefix(maxBytes: number, text: string): string {
  if (jsonBytes(text) <= maxBytes) return text;
  let end = 0;
  let remainingBytes = maxBytes;
  for (const character of text) {
    remainingBytes -= jsonBytes(character);
    if (remainingBytes < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}
