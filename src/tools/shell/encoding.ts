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

/** One byte for each character. A call for each takes thirty times as long. */
export const charactersToBytes = (text: string): Uint8Array =>
  new Uint8Array(Buffer.from(text, "latin1"));

/** One character for each byte. The platform's own way: putting characters together takes fifty times as long. */
export const byteCharacters = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("latin1");

const encodingOf = (option: EncodingOption): BufferEncoding =>
  (typeof option === "string" ? option : option?.encoding) ?? "utf8";
