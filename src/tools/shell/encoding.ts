import type { BufferEncoding, FileContent } from "just-bash/browser";

/** An encoding. The shell's commands pass it in an object or directly. */
export type EncodingOption = { encoding?: BufferEncoding | null } | BufferEncoding | undefined;

/** The bytes that a command writes. A string without an encoding is encoded as UTF-8. */
export function toBytes(content: FileContent, option: EncodingOption): Uint8Array {
  if (typeof content !== "string") return content;
  switch (encodingOf(option)) {
    case "binary":
    case "latin1":
    case "ascii":
      return charactersToBytes(content);
    case "base64":
      return charactersToBytes(atob(content));
    case "hex":
      return Uint8Array.from(content.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    default:
      return new TextEncoder().encode(content);
  }
}

/** File contents in the encoding that a command expects. */
export function fromBytes(bytes: Uint8Array, option: EncodingOption): string {
  switch (encodingOf(option)) {
    case "binary":
    case "latin1":
    case "ascii":
      return byteCharacters(bytes);
    case "base64":
      return btoa(byteCharacters(bytes));
    case "hex":
      return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    default:
      return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
  }
}

/**
 * One byte for each character. A function call for each character would take thirty times as long.
 */
export const charactersToBytes = (text: string): Uint8Array =>
  new Uint8Array(Buffer.from(text, "latin1"));

/** One character for each byte. Joining the characters would take fifty times as long. */
export const byteCharacters = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("latin1");

const encodingOf = (option: EncodingOption): BufferEncoding =>
  (typeof option === "string" ? option : option?.encoding) ?? "utf8";
