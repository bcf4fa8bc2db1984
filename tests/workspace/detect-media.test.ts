import { describe, expect, it } from "vitest";
import { detectMedia, declaredType } from "../../src/workspace/detect-media";
import { GIF, PDF, PNG } from "../api/sessions/attachments";

const bytes = (latin1: string): Uint8Array => Buffer.from(latin1, "latin1");
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("the media type of bytes", () => {
  it.each([
    { name: "a PNG", given: PNG, kind: "image", mediaType: "image/png" },
    {
      name: "a JPEG",
      given: bytes("\xff\xd8\xff\xe0\x00\x10JFIF"),
      kind: "image",
      mediaType: "image/jpeg",
    },
    { name: "a GIF", given: GIF, kind: "image", mediaType: "image/gif" },
    { name: "an old GIF", given: bytes("GIF87a\x01\x00"), kind: "image", mediaType: "image/gif" },
    {
      name: "a WebP",
      given: bytes("RIFF\x1a\x00\x00\x00WEBPVP8 "),
      kind: "image",
      mediaType: "image/webp",
    },
    { name: "a PDF", given: PDF, kind: "pdf", mediaType: "application/pdf" },
    {
      name: "a text",
      given: utf8("Größe: 5\r\n\tund mehr\n"),
      kind: "text",
      mediaType: "text/plain",
    },
    {
      name: "an SVG, which is text",
      given: utf8("<svg/>"),
      said: "image/svg+xml",
      kind: "text",
      mediaType: "image/svg+xml",
    },
    {
      name: "a text with the type of a PNG",
      given: utf8("no"),
      said: "image/png",
      kind: "text",
      mediaType: "text/plain",
    },
    {
      name: "a text without a type",
      given: utf8("no"),
      said: "a sentence",
      kind: "text",
      mediaType: "text/plain",
    },
    {
      name: "lines of JSON",
      given: utf8("{}\n"),
      said: "application/x-ndjson",
      kind: "text",
      mediaType: "application/x-ndjson",
    },
    {
      name: "a table with its own type",
      given: utf8("a,b\n"),
      said: "text/csv",
      kind: "text",
      mediaType: "text/csv",
    },
    {
      name: "a PNG with the type of a PDF",
      given: PNG,
      said: "application/pdf",
      kind: "image",
      mediaType: "image/png",
    },
  ])("is found for $name", ({ given, said, kind, mediaType }) => {
    expect(detectMedia(given, said)).toEqual({ kind, mediaType });
  });

  it.each([
    { name: "a program", given: bytes("\x7fELF\x02\x01\x01\x00") },
    { name: "a sound in RIFF", given: bytes("RIFF\x1a\x00\x00\x00WAVEfmt ") },
    { name: "a zip", given: bytes("PK\x03\x04") },
    { name: "text in Latin-1", given: bytes("Gr\xf6\xdfe") },
    { name: "text with a NUL", given: utf8("a\0b") },
    { name: "text with an escape sequence", given: utf8("\x1b[2J") },
    { name: "a PDF that does not begin with its mark", given: bytes("\x00%PDF-1.4") },
  ])("is not found for $name, for any type that the client names", ({ given }) => {
    expect(detectMedia(given, "text/plain")).toBeNull();
  });
});

describe("the type that a client names", () => {
  it.each([
    ["image/jpg", "image/jpeg"],
    ["Image/PNG", "image/png"],
    ["text/plain; charset=utf-8", "text/plain"],
    [" application/x-pdf ", "application/pdf"],
    ["application/x-ndjson", "application/x-ndjson"],
    ["application/octet-stream", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("%s means %s", (said, means) => expect(declaredType(said)).toBe(means));
});
