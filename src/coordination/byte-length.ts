const encoder = new TextEncoder();

/** UTF-8 bytes: no tokenizer makes more tokens than bytes, so this is a bound on tokens too. */
export const byteLength = (text: string): number => encoder.encode(text).byteLength;

/** Cuts at a character, not inside one. */
export function truncateTo(mostBytes: number, text: string): string {
  const bytes = encoder.encode(text);
  if (bytes.byteLength <= mostBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, mostBytes), { stream: true });
}
