/** SHA-256, lower-case hex: the name of a blob. The bytes may not change until it is there. */
export async function hashOf(bytes: Uint8Array): Promise<string> {
  const { buffer, byteOffset, byteLength } = bytes;
  const view =
    buffer instanceof ArrayBuffer
      ? new Uint8Array(buffer, byteOffset, byteLength)
      : new Uint8Array(bytes);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", view));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Of no bytes at all: the empty file has no contents to be kept. */
export const EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
