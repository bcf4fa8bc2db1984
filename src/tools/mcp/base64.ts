/** What base64 holds, read as the web's `atob` reads it; null if it is none. */
export function decodeBase64(data: string): Uint8Array<ArrayBuffer> | null {
  const digits = digitsOf(data);
  if (digits === null) return null;
  const { buffer, byteOffset, byteLength } = Buffer.from(digits, "base64");
  return new Uint8Array(buffer, byteOffset, byteLength);
}

export const isBase64 = (data: string): boolean => digitsOf(data) !== null;

/** Without what stands between and after them. */
function digitsOf(data: string): string | null {
  const packed = data.replaceAll(/[\t\n\f\r ]+/g, "");
  const digits = packed.length % 4 === 0 ? packed.replace(/={1,2}$/, "") : packed;
  return digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits) ? null : digits;
}
