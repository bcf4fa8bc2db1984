import { describe, expect, it } from "vitest";
import { detectMedia, declaredType } from "../../src/workspace/detect-media";
import { GIF, PDF, PNG } from "../api/sessions/attachments";

const bytes = (latin1: string): Uint8Array => Buffer.from(latin1, "latin1");
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("the media type of bytes", () => {
  it.each([
    { name: "a PNG", input: PNG, kind: "image", mediaType: "image/png" },
    {
      name: "a JPEG",
      input: bytes("\xff\xd8\xff\xe0\x00\x10JFIF"),
      kind: "image",
      mediaType: "image/jpeg",
    },
    { name: "a GIF", input: GIF, kind: "image", mediaType: "image/gif" },
    { name: "an old GIF", input: bytes("GIF87a\x01\x00"), kind: "image", mediaType: "image/gif" },
    {
      name: "a WebP",
      input: bytes("RIFF\x1a\x00\x00\x00WEBPVP8 "),
      kind: "image",
      mediaType: "image/webp",
    },
    { name: "a PDF", input: PDF, kind: "pdf", mediaType: "application/pdf" },
    {
      name: "a text in UTF-8",
      input: utf8("Größe: 5\r\n\tund mehr\n"),
      kind: "text",
      mediaType: "text/plain",
    },
    {
      name: "an SVG, which is text",
      input: utf8("<svg/>"),
      declared: "image/svg+xml",
      kind: "text",
      mediaType: "image/svg+xml",
    },
    {
      name: "a text that is declared as a PNG",
      input: utf8("no"),
      declared: "image/png",
      kind: "text",
      mediaType: "text/plain",
    },
    {
      name: "a text with an invalid type",
      input: utf8("no"),
      declared: "a sentence",
      kind: "text",
      mediaType: "text/plain",
    },
    {
      name: "lines of JSON",
      input: utf8("{}\n"),
      declared: "application/x-ndjson",
      kind: "text",
      mediaType: "application/x-ndjson",
    },
    {
      name: "a table with its own type",
      input: utf8("a,b\n"),
      declared: "text/csv",
      kind: "text",
      mediaType: "text/csv",
    },
    {
      name: "a PNG that is declared as a PDF",
      input: PNG,
      declared: "application/pdf",
      kind: "image",
      mediaType: "image/png",
    },
  ])("is detected for $name", ({ input, declared, kind, mediaType }) => {
    expect(detectMedia(input, declared)).toEqual({ kind, mediaType });
  });

  it.each([
    { name: "a program", input: bytes("\x7fELF\x02\x01\x01\x00") },
    { name: "incomplete audio in RIFF", input: bytes("RIFF\x1a\x00\x00\x00WAVEfmt ") },
    { name: "a zip", input: bytes("PK\x03\x04") },
    { name: "text in Latin-1", input: bytes("Gr\xf6\xdfe") },
    { name: "text with a NUL", input: utf8("a\0b") },
    { name: "text with an escape sequence", input: utf8("\x1b[2J") },
    { name: "a PDF that does not begin with its signature", input: bytes("\x00%PDF-1.4") },
  ])("is not detected for $name, also if the client declares text", ({ input }) => {
    expect(detectMedia(input, "text/plain")).toBeNull();
  });
});

describe("the declared type", () => {
  it.each([
    ["image/jpg", "image/jpeg"],
    ["Image/PNG", "image/png"],
    ["text/plain; charset=utf-8", "text/plain"],
    [" application/x-pdf ", "application/pdf"],
    ["application/x-ndjson", "application/x-ndjson"],
    ["application/octet-stream", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("%s is normalized to %s", (declared, normalized) =>
    expect(declaredType(declared)).toBe(normalized),
  );
});
