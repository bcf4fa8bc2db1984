import { describe, expect, it } from "vitest";
import { extensionOf, mediaTypeOf } from "../../src/workspace/media-type";
import { GIF, PDF, PNG } from "../api/sessions/attachments";

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");
const NOISE = latin1("\x00\x01\xff");

describe("the type of bytes", () => {
  it.each([
    {
      name: "is detected by the first bytes",
      bytes: PNG,
      said: undefined,
      type: "image/png",
      extension: "png",
    },
    {
      name: "is found despite the name",
      bytes: GIF,
      said: "application/pdf",
      type: "image/gif",
      extension: "gif",
    },
    {
      name: "is detected for documents too",
      bytes: PDF,
      said: "text/plain",
      type: "application/pdf",
      extension: "pdf",
    },
    {
      name: "distinguishes audio from images",
      bytes: latin1("RIFF\x1a\0\0\0WAVEfmt "),
      said: "image/webp",
      type: "audio/wav",
      extension: "wav",
    },
    {
      name: "is the declared type if the bytes do not contradict it",
      bytes: NOISE,
      said: "video/mp4",
      type: "video/mp4",
      extension: "mp4",
    },
    {
      name: "may be declared in any case, with parameters",
      bytes: latin1("a,b"),
      said: "Text/CSV; charset=utf-8",
      type: "text/csv",
      extension: "csv",
    },
    {
      name: "is not an image type that the bytes do not show",
      bytes: NOISE,
      said: "image/png",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is not such a type under another name either",
      bytes: NOISE,
      said: "image/jpg",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is not text if the bytes are not text",
      bytes: NOISE,
      said: "text/html",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is not JSON if the bytes are not text",
      bytes: NOISE,
      said: "application/ld+json",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is not a declared type of invalid form",
      bytes: NOISE,
      said: "image/../../x",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is not a word without a slash",
      bytes: NOISE,
      said: "__proto__",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is text without any hint",
      bytes: latin1("hello"),
      said: undefined,
      type: "text/plain",
      extension: "txt",
    },
    {
      name: "has an extension for unlisted types too",
      bytes: latin1("x"),
      said: "text/x-rust",
      type: "text/x-rust",
      extension: "txt",
    },
    {
      name: "has an extension for bytes of any other kind",
      bytes: NOISE,
      said: "model/stl",
      type: "model/stl",
      extension: "bin",
    },
  ])("$name", ({ bytes, said, type, extension }) => {
    expect(mediaTypeOf(bytes, said)).toBe(type);
    expect(extensionOf(type)).toBe(extension);
  });
});
