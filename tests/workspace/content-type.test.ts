import { describe, expect, it } from "vitest";
import { inlineType, typeByName } from "../../src/workspace/content-type";
import { GIF, PDF, PNG } from "../api/sessions/attachments";

describe("the type that a file's name implies", () => {
  it.each([
    ["site/index.html", "text/html"],
    ["Photo.JPEG", "image/jpeg"],
    ["a.b/LICENSE", "text/plain"],
    ["Makefile", "text/plain"],
    [".gitignore", "text/plain"],
    ["src/app.tsx", "text/plain"],
    ["archive.tar.gz", "application/gzip"],
    ["data", "application/octet-stream"],
    ["png", "image/png"],
    ["a.", "application/octet-stream"],
    ["a.constructor", "application/octet-stream"],
  ])("%s: %s", (path, type) => {
    expect(typeByName(path)).toBe(type);
  });
});

describe("the type with which a browser may show the contents", () => {
  const TEXT = "text/plain; charset=utf-8";
  it.each([
    { name: "PNG is an image", bytes: PNG, type: "image/png" },
    { name: "GIF is an image", bytes: GIF, type: "image/gif" },
    { name: "markup is plain text", bytes: Buffer.from("<script>alert(1)</script>"), type: TEXT },
    { name: "an empty file is plain text", bytes: Buffer.alloc(0), type: TEXT },
    { name: "letters of all scripts are plain text", bytes: Buffer.from("é漢🦜"), type: TEXT },
    { name: "a PDF is saved", bytes: PDF, type: null },
    { name: "text that is not UTF-8 is saved", bytes: Buffer.from("é", "latin1"), type: null },
    { name: "text with control characters is saved", bytes: Buffer.from("a\x1b[2Jb"), type: null },
    { name: "a cut-off character is saved", bytes: Buffer.from("é").subarray(0, 1), type: null },
  ])("$name", ({ bytes, type }) => {
    expect(inlineType(bytes)).toBe(type);
  });
});
