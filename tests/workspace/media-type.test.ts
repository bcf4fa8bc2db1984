import { describe, expect, it } from "vitest";
import { extensionOf, mediaTypeOf } from "../../src/workspace/media-type";
import { GIF, PDF, PNG } from "../api/sessions/attachments";

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");
const NOISE = latin1("\x00\x01\xff");

describe("the type of bytes", () => {
  it.each([
    {
      name: "is what they begin with",
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
      name: "is that for documents too",
      bytes: PDF,
      said: "text/plain",
      type: "application/pdf",
      extension: "pdf",
    },
    {
      name: "distinguishes sound from images",
      bytes: latin1("RIFF\x1a\0\0\0WAVEfmt "),
      said: "image/webp",
      type: "audio/wav",
      extension: "wav",
    },
    {
      name: "is what is said where nothing speaks against it",
      bytes: NOISE,
      said: "video/mp4",
      type: "video/mp4",
      extension: "mp4",
    },
    {
      name: "is said in any case, with parameters",
      bytes: latin1("a,b"),
      said: "Text/CSV; charset=utf-8",
      type: "text/csv",
      extension: "csv",
    },
    {
      name: "is no image type that the bytes would show",
      bytes: NOISE,
      said: "image/png",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is none under another name either",
      bytes: NOISE,
      said: "image/jpg",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is no text that is none",
      bytes: NOISE,
      said: "text/html",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is no JSON that is no text",
      bytes: NOISE,
      said: "application/ld+json",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is none that has not its form",
      bytes: NOISE,
      said: "image/../../x",
      type: "application/octet-stream",
      extension: "bin",
    },
    {
      name: "is none that is a word",
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
      name: "gives a name to types outside the list too",
      bytes: latin1("x"),
      said: "text/x-rust",
      type: "text/x-rust",
      extension: "txt",
    },
    {
      name: "gives bytes of any other kind one too",
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
