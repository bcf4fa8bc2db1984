import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { StepBudget } from "../../src/diff/changed-tokens";
import { fileChanges } from "../../src/diff/file-changes";
import { lineChanges } from "../../src/diff/hunks";
import { type PatchFile, patchText } from "../../src/diff/patch-text";
import { editedText, textOfLines } from "./random-texts";

type File = { text: string; executable: boolean };
type Files = ReadonlyMap<string, File>;

const NAMES = [
  "a",
  "b.txt",
  "a name",
  "q\"uote'd",
  "é/ü.md",
  "tab\there",
  "new\nline",
  "-dash",
  "d/e/f",
  "d/#x",
  "contexts/site/a b/c",
  "trail ing",
];
const root = mkdtempSync(path.join(tmpdir(), "git-apply-"));
afterAll(() => rmSync(root, { recursive: true }));

/** The patch of two folders, as the service makes it. */
function patchOf(from: Files, to: Files): string {
  const toTree = (files: Files) =>
    new Map(
      [...files].map(([name, { text, executable }]) => [
        name,
        { hash: text, size: text.length, ...(executable && { executable: true as const }) },
      ]),
    );
  const files = fileChanges(toTree(from), toTree(to)).map(
    ({ change, path: name, fromPath, ...sides }): PatchFile => {
      const side = (entry: typeof sides.from) =>
        entry && { sha256: "", size: entry.size, executable: entry.executable };
      const changes =
        sides.from?.hash === sides.to?.hash
          ? null
          : lineChanges(sides.from?.hash ?? "", sides.to?.hash ?? "", new StepBudget());
      return {
        ...{ change, path: name, from: side(sides.from), to: side(sides.to) },
        ...(fromPath !== null && { from_path: fromPath }),
        hunks: changes?.hunks ?? [],
      };
    },
  );
  const skipped: PatchFile = {
    change: "changed",
    path: "x\ndiff --git a/y b/y",
    from: { sha256: "1", size: 1 },
    to: null,
    hunks: [],
    not_compared: "binary",
  };
  return files.length === 0 ? "" : patchText([skipped, ...files], 3);
}

function write(folder: string, files: Files): void {
  mkdirSync(folder);
  for (const [name, { text, executable }] of files) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, executable ? 0o755 : 0o644);
  }
}

function read(folder: string): Record<string, File> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  return Object.fromEntries(
    names.map((file) => [
      path.relative(folder, file),
      { text: readFileSync(file, "utf8"), executable: (statSync(file).mode & 0o100) !== 0 },
    ]),
  );
}

let folders = 0;
function expectApplied(from: Files, to: Files): void {
  folders += 1;
  const folder = path.join(root, String(folders));
  write(folder, from);
  const patch = patchOf(from, to);
  if (patch !== "")
    execFileSync("git", ["apply", "--whitespace=nowarn", "-"], { cwd: folder, input: patch });
  expect(read(folder)).toEqual(Object.fromEntries(to));
}

const file = (text: string, executable = false): File => ({ text, executable });

it.each([
  { name: "an empty new file", from: {}, to: { a: file("") } },
  { name: "an empty file is deleted", from: { a: file("") }, to: {} },
  { name: "a file becomes empty", from: { a: file("x\n") }, to: { a: file("") } },
  { name: "a rename", from: { "a name": file("x") }, to: { "é/b": file("x", true) } },
  { name: "an executable bit", from: { a: file("x") }, to: { a: file("x", true) } },
  { name: "a file becomes a directory", from: { a: file("x") }, to: { "a/b": file("y") } },
  { name: "a directory becomes a file", from: { "a/b": file("y") }, to: { a: file("x") } },
  { name: "a file moves into its own name", from: { a: file("x") }, to: { "a/b": file("x") } },
])("git applies the patch of: $name", ({ from, to }) => {
  expectApplied(new Map(Object.entries(from)), new Map(Object.entries(to)));
});

it("git applies the patch of random edits, and gets exactly the new files", () => {
  const change = fc.oneof(
    editedText.map(([before, after]) => ({ before, after })),
    textOfLines.map((after) => ({ before: null, after })),
    textOfLines.map((before) => ({ before, after: null })),
    textOfLines.map((text) => ({ before: text, after: text })),
  );
  const modes = fc.tuple(fc.boolean(), fc.boolean());
  const edits = fc.dictionary(fc.constantFrom(...NAMES), fc.tuple(change, modes), { maxKeys: 6 });
  fc.assert(
    fc.property(edits, fc.boolean(), (files, moves) => {
      const [from, to] = [new Map<string, File>(), new Map<string, File>()];
      for (const [name, [{ before, after }, [oldMode, newMode]]] of Object.entries(files)) {
        if (before !== null) from.set(name, file(before, oldMode));
        if (after !== null) to.set(moves ? `moved/${name}` : name, file(after, newMode));
      }
      expectApplied(from, to);
    }),
    { numRuns: 300 },
  );
});
