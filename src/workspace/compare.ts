import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import type { AgentFiles } from "./agent-files";
import { sameEntry } from "./tree";
import { type FileEntry, FileError, type Tree } from "./types";

/**
 * Compares files and directories, and describes the differences to an agent. Counts limit the work,
 * not a clock: the platform's clock does not advance while code runs. Counts also make results
 * deterministic.
 */
export const COMPARE_LIMITS = {
  /** Maximum bytes of a file that is compared line by line. */
  fileBytes: 1_048_576,
  /** Maximum lines of both files together. */
  lines: 200_000,
  /** Maximum work: lines of both files times differing lines. */
  steps: 20_000_000,
  /** Maximum number of differing lines. */
  edits: 2_000,
  /** Maximum length of the result in UTF-16 units. */
  text: 60_000,
} as const;
type Limits = { [Name in keyof typeof COMPARE_LIMITS]: number };

/** A file with its name for messages. */
export type Side = { name: string; bytes: Uint8Array };
/** `same`: whether all bytes are equal. `text` describes the result to the agent. */
export type Comparison = { same: boolean; text: string };

/** A unified diff of two files, or the reason why there is none. */
export function compareFiles(left: Side, right: Side, limits: Limits = COMPARE_LIMITS): Comparison {
  if (haveEqualBytes(left.bytes, right.bytes))
    return { same: true, text: `${left.name} and ${right.name} are the same.` };
  const different = (reason: string) => ({
    same: false,
    text: `${nameWithSize(left)} and ${nameWithSize(right)} differ${reason}.`,
  });
  const tooLarge = "; they are too large to compare by line";
  if (Math.max(left.bytes.byteLength, right.bytes.byteLength) > limits.fileBytes)
    return different(tooLarge);
  const [before, after] = [textOf(left.bytes), textOf(right.bytes)];
  if (before === null || after === null) return different(", and are not both text");
  const lines = linesOf(before) + linesOf(after);
  if (lines > limits.lines) return different(tooLarge);
  const patch = createTwoFilesPatch(left.name, right.name, before, after, undefined, undefined, {
    context: 3,
    maxEditLength: Math.min(limits.edits, Math.ceil(limits.steps / lines)),
    headerOptions: FILE_HEADERS_ONLY,
  });
  return patch === undefined
    ? different(" in too many lines to tell them all")
    : { same: false, text: shorten(patch, limits.text) };
}

/** Sorted paths, relative to the two directories. */
type ComparedTrees = {
  onlyLeft: string[];
  onlyRight: string[];
  different: string[];
  same: number;
};

/** Compares two trees by hash, without reading contents. */
export function compareTrees(left: Tree, right: Tree): ComparedTrees {
  const compared: ComparedTrees = { onlyLeft: [], onlyRight: [], different: [], same: 0 };
  for (const path of [...new Set([...left.keys(), ...right.keys()])].sort()) {
    const [leftEntry, rightEntry] = [left.get(path), right.get(path)];
    if (!rightEntry) compared.onlyLeft.push(path);
    else if (!leftEntry) compared.onlyRight.push(path);
    else if (!sameEntry(leftEntry, rightEntry)) compared.different.push(path);
    else compared.same += 1;
  }
  return compared;
}

/**
 * Compares two directories file by file. Throws `FileError` if a path does not exist, is not a
 * directory, or contains more than `maxFiles` files.
 */
export async function compareDirectories(
  files: AgentFiles,
  { left, right, most: maxFiles }: { left: string; right: string; most: number },
): Promise<Comparison> {
  const leftTree = await treeBelow(files, left, maxFiles);
  const rightTree = await treeBelow(files, right, maxFiles);
  const { onlyLeft, onlyRight, different, same } = compareTrees(leftTree, rightTree);
  const isSame = onlyLeft.length + onlyRight.length + different.length === 0;
  const sections = [
    section(`Only in ${files.resolve(left)}`, onlyLeft),
    section(`Only in ${files.resolve(right)}`, onlyRight),
    section("Different", different),
    `The same: ${same}`,
  ];
  const text = sections.filter((part) => part !== "").join("\n");
  return { same: isSame, text: shorten(text, COMPARE_LIMITS.text) };
}

async function treeBelow(files: AgentFiles, directory: string, maxFiles: number): Promise<Tree> {
  await files.withTree(directory, () => files.list(directory)); // throws for a file
  const root = files.resolve(directory);
  const { paths, more } = await files.walk(directory, maxFiles);
  if (more)
    throw new FileError(
      "too_many_files",
      `${root} holds more than ${maxFiles} files. Compare directories further down.`,
    );
  const tree = new Map<string, FileEntry>();
  for (const path of paths) {
    const { hash, size, executable } = await files.withTree(path, () => files.stat(path));
    tree.set(path.slice(root === "/" ? 1 : root.length + 1), {
      hash: hash ?? "",
      size,
      ...(executable && { executable: true }),
    });
  }
  return tree;
}

const section = (title: string, paths: readonly string[]): string =>
  paths.length === 0
    ? ""
    : [`${title} (${paths.length}):`, ...paths.map((path) => `  ${path}`)].join("\n");

const nameWithSize = ({ name, bytes }: Side): string =>
  `${name} (${bytes.byteLength.toLocaleString("en-US")} bytes)`;

function haveEqualBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, index) => byte === b[index]);
}

/** The text; `null` if it contains NUL or is not UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function linesOf(text: string): number {
  let lines = 1;
  let lineEnd = text.indexOf("\n");
  while (lineEnd >= 0) {
    lines += 1;
    lineEnd = text.indexOf("\n", lineEnd + 1);
  }
  return lines;
}

/**
 * Shortens a text to `maxLength` and adds the number of omitted characters. Cuts after a complete
 * line, unless this omits more than half of `maxLength`.
 */
function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = text.lastIndexOf("\n", maxLength);
  const start = text.slice(0, end > maxLength / 2 ? end : maxLength).toWellFormed();
  return `${start}\n… ${(text.length - start.length).toLocaleString("en-US")} more characters are left out.\n`;
}
