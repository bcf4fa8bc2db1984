import type { BufferEncoding, FileContent } from "just-bash/browser";

/** Either way of naming an encoding that the shell's commands use. */
export type EncodingOption = { encoding?: BufferEncoding | null } | BufferEncoding | undefined;

/** The bytes of what a command writes. A string is text, unless its encoding says that each character stands for a byte. */
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

/** What a command reads. */
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

const charactersToBytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** One character for each byte; in pieces, since a call takes only so many arguments. */
function byteCharacters(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 8_192) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)));
  return pieces.join("");
}

const encodingOf = (option: EncodingOption): BufferEncoding => (typeof option === "string" ? option : option?.encoding) ?? "utf8";
