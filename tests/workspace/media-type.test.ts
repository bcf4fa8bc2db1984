import { describe, expect, it } from "vitest";
import { extensionOf, mediaTypeOf } from "../../src/workspace/media-type";
import { GIF, PDF, PNG } from "../api/sessions/attachments";

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");
const NOISE = latin1("\x00\x01\xff");

describe("the type of bytes", () => {
  it.each([
    {
      name: "is detected by the signature",
      bytes: PNG,
      declared: undefined,
      type: "image/png",
      extension: "png",
    },
    {
      name: "is detected although another type is declared",
      bytes: GIF,
      declared: "application/pdf",
      type: "image/gif",
      extension: "gif",
    },
    {
      name: "is detected for PDF although text is declared",
      bytes: PDF,
      declared: "text/plain",
      type: "application/pdf",
      extension: "pdf",
    },
    {
      name: "distinguishes audio from images",
      bytes: latin1("RIFF\x1a\0\0\0WAVEfmt "),
      declared: "image/webp",
      type: "audio/wav",
      extension: "wav",
    },
    {
      name: "is the declared type if the bytes do not contradict it",
      bytes: NOISE,
      declared: "video/mp4",
      type: "video/mp4",
      extension: "mp4",
    },
    {
      name: "may be declared in any case, with parameters",
      bytes: latin1("a,b"),
      declared: "Text/CSV; charset=utf-8",
      type: "text/csv",
      extension: "csv",
    },
    {
      name: "is not a declared image type without the signature",
      bytes: NOISE,
      declared: "image/png",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is not such an image type under an alias",
      bytes: NOISE,
      declared: "image/jpg",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is not text if the bytes are not text",
      bytes: NOISE,
      declared: "text/html",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is not JSON if the bytes are not text",
      bytes: NOISE,
      declared: "application/ld+json",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is not a declared type of invalid form",
      bytes: NOISE,
      declared: "image/../../x",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is not a declared type without a slash",
      bytes: NOISE,
      declared: "__proto__",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is plain text if no type is declared and the bytes are text",
      bytes: latin1("hello"),
      declared: undefined,
      type: "text/plain",
      extension: "txt",
    },
    {
      name: "has the extension txt for other text types",
      bytes: latin1("x"),
      declared: "text/x-rust",
      type: "text/x-rust",
      extension: "txt",
    },
    {
      name: "has the extension bin for all other types",
      bytes: NOISE,
      declared: "model/stl",
      type: "model/stl",
      extension: "bin",
    },
  ])("$name", ({ bytes, declared, type, extension }) => {
    expect(mediaTypeOf(bytes, declared)).toBe(type);
    expect(extensionOf(type)).toBe(extension);
  });
});
