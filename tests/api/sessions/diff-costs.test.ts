import { beforeAll, describe, expect, it } from "vitest";
import { FileDiffer } from "../../../src/api/sessions/diff/file-differ";
import { fileChanges } from "../../../src/diff/file-changes";
import type { FileEntry, Tree } from "../../../src/workspace/types";
import { sha256 } from "../../../local/sha256";
import { slowness } from "../../machine-speed";

/**
 * What the comparison of many files costs, in processor time of this thread, so that other work of
 * the machine does not count. A slower machine has proportionally more time.
 */

const FILES = 2_000;
const LIMIT_MS = 1_000;

type Contents = Map<string, Uint8Array<ArrayBuffer>>;

const entryOf = (text: string, contents: Contents): FileEntry => {
  const bytes = new Uint8Array(new TextEncoder().encode(text));
  const hash = sha256(text);
  contents.set(hash, bytes);
  return { hash, size: bytes.byteLength };
};

/** Source files of 100 lines each. `edit` changes the lines of each file. */
function treeOf(contents: Contents, edit: (line: number, file: number) => string | null): Tree {
  const text = (file: number): string =>
    Array.from({ length: 100 }, (_, line) => edit(line, file))
      .filter((line) => line !== null)
      .join("\n");
  return new Map(
    Array.from({ length: FILES }, (_, file) => [
      `src/folder-${file % 40}/file-${file}.ts`,
      entryOf(text(file), contents),
    ]),
  );
}

const lineOf = (line: number, file: number): string =>
  `  const value${line} = compute(${(line * 7_919 + file) % 101}, "file ${file}");`;

/** The least processor time of three comparisons in ms, and their number of hunks. */
async function costOf(from: Tree, to: Tree, contents: Contents) {
  const times: number[] = [];
  let hunks = 0;
  for (let run = 0; run < 3; run += 1) {
    const before = process.threadCpuUsage();
    const differ = new FileDiffer();
    await differ.add({
      prefix: "",
      changes: fileChanges(from, to),
      read: async (entries) => entries.map(({ hash }) => contents.get(hash) ?? null),
    });
    const { user, system } = process.threadCpuUsage(before);
    times.push((user + system) / 1_000);
    hunks = differ.files.reduce((sum, file) => sum + file.hunks.length, 0);
    expect(differ.files).toHaveLength(FILES);
  }
  return { ms: Math.min(...times), hunks };
}

describe(`a diff of ${FILES} files`, () => {
  const contents: Contents = new Map();
  let limitMs = LIMIT_MS;
  beforeAll(() => {
    limitMs = LIMIT_MS * slowness();
  });

  it.each<{
    name: string;
    edit: (line: number, file: number) => string | null;
    leastHunks: number;
  }>([
    {
      name: "each with three changed places",
      edit: (line, file) =>
        line % 40 === 10 ? `  // changed in ${file}, line ${line}` : lineOf(line, file),
      leastHunks: 3 * FILES,
    },
    {
      // The hunks reach their limit, so not each file has one.
      name: "each written again from its first to its last line",
      edit: (line, file) => `export const other${line} = ${file};`,
      leastHunks: FILES / 4,
    },
    {
      name: "each with every second line removed",
      edit: (line, file) => (line % 2 === 0 ? lineOf(line, file) : null),
      leastHunks: FILES / 2,
    },
  ])("$name, needs less than a second", async ({ edit, leastHunks }) => {
    const [from, to] = [treeOf(contents, lineOf), treeOf(contents, edit)];
    const cost = await costOf(from, to, contents);
    expect(cost.hunks).toBeGreaterThanOrEqual(leastHunks);
    expect(cost.ms).toBeLessThan(limitMs);
  });

  it("that were only moved to another folder needs less than a second", async () => {
    const from = treeOf(contents, lineOf);
    const to: Tree = new Map([...from].map(([path, entry]) => [`moved/${path}`, entry]));
    const cost = await costOf(from, to, contents);
    expect(cost.hunks).toBe(0);
    expect(cost.ms).toBeLessThan(limitMs);
  });
});
