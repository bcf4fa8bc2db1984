const encoder = new TextEncoder();

/** UTF-8 bytes: no tokenizer makes more tokens than bytes, so this is a bound on tokens too. */
export const byteLength = (text: string): number => encoder.encode(text).byteLength;

/** Cuts at a character, not inside one. */
export function truncateTo(mostBytes: number, text: string): string {
  const bytes = encoder.encode(text);
  if (bytes.byteLength <= mostBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, mostBytes), { stream: true });
}

/** The bytes a text takes inside a JSON string: control characters and halved ones take six each. */
export const jsonBytes = (text: string): number => byteLength(JSON.stringify(text)) - 2;

/** The longest beginning that takes at most so many bytes inside a JSON string; no character is halved. */
export function jsonPrefix(mostBytes: number, text: string): string {
  if (jsonBytes(text) <= mostBytes) return text;
  let end = 0;
  let left = mostBytes;
  for (const character of text) {
    left -= jsonBytes(character);
    if (left < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}
