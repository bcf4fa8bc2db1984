import { execFileSync } from "node:child_process";
import {
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  existsSync,
  chmodSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { type Contents, patchOf } from "../../../cli/contexts/patch";

const contentsOf = (text: string, executable = false): Contents => ({
  bytes: new TextEncoder().encode(text),
  executable,
});
const many = (word: string) => Array.from({ length: 12_000 }, (_, at) => `${word} ${at}`);
const lines = (count: number, change = -1) =>
  Array.from({ length: count }, (_, index) =>
    index === change ? "changed" : `line ${index}`,
  ).join("\n");

it.each([
  {
    name: "a change in the middle",
    before: contentsOf(`${lines(40)}\n`),
    after: contentsOf(`${lines(40, 20)}\n`),
  },
  {
    name: "a change at an end without a line feed",
    before: contentsOf(lines(5)),
    after: contentsOf(lines(5, 4)),
  },
  { name: "a new file", before: null, after: contentsOf("hello\n") },
  { name: "a new executable file", before: null, after: contentsOf("#!/bin/sh\n", true) },
  { name: "a deleted file", before: contentsOf("hello\n"), after: null },
  { name: "a file that becomes empty", before: contentsOf("hello\n"), after: contentsOf("") },
  {
    name: "a file that becomes executable",
    before: contentsOf("x\n"),
    after: contentsOf("x\n", true),
  },
  {
    name: "a large text with other lines",
    before: contentsOf(many("old").join("\n")),
    after: contentsOf(`${many("new").join("\n")}\n`),
  },
  { name: "a large new text", before: null, after: contentsOf(many("new").join("\n")) },
  { name: "a large text that is deleted", before: contentsOf(many("old").join("\n")), after: null },
  {
    name: "line feeds of both kinds",
    before: contentsOf("a\r\nb\n"),
    after: contentsOf("a\r\nc\n"),
  },
])("git applies the patch of $name", ({ before, after }) => {
  const folder = mkdtempSync(path.join(tmpdir(), "patch-"));
  const file = path.join(folder, "a file.txt");
  try {
    if (before) writeFileSync(file, before.bytes);
    if (before?.executable) chmodSync(file, 0o755);
    execFileSync("git", ["apply", "--whitespace=nowarn", "-"], {
      cwd: folder,
      input: patchOf("a file.txt", before, after) ?? "",
    });
    const patched = existsSync(file)
      ? {
          bytes: new Uint8Array(readFileSync(file)),
          executable: (statSync(file).mode & 0o100) !== 0,
        }
      : null;
    expect(patched).toEqual(after);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it.each([
  { name: "bytes", bytes: Uint8Array.of(1, 0, 2) },
  { name: "broken UTF-8", bytes: Uint8Array.of(0xc3, 0x28) },
])("there is no patch of $name", ({ bytes }) => {
  expect(patchOf("x", null, { bytes, executable: false })).toBeNull();
});
