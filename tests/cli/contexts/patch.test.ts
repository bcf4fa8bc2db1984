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

const of = (text: string, executable = false): Contents => ({
  bytes: new TextEncoder().encode(text),
  executable,
});
const lines = (count: number, change = -1) =>
  Array.from({ length: count }, (_, nth) => (nth === change ? "changed" : `line ${nth}`)).join(
    "\n",
  );

it.each([
  { name: "a change in the middle", before: of(`${lines(40)}\n`), after: of(`${lines(40, 20)}\n`) },
  { name: "a change at an end without a line feed", before: of(lines(5)), after: of(lines(5, 4)) },
  { name: "a new file", before: null, after: of("hello\n") },
  { name: "a new executable file", before: null, after: of("#!/bin/sh\n", true) },
  { name: "a deleted file", before: of("hello\n"), after: null },
  { name: "a file that becomes empty", before: of("hello\n"), after: of("") },
  { name: "a file that becomes executable", before: of("x\n"), after: of("x\n", true) },
  { name: "line feeds of both kinds", before: of("a\r\nb\n"), after: of("a\r\nc\n") },
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
    const found = existsSync(file)
      ? {
          bytes: new Uint8Array(readFileSync(file)),
          executable: (statSync(file).mode & 0o100) !== 0,
        }
      : null;
    expect(found).toEqual(after);
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
