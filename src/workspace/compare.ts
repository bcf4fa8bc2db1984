import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import type { AgentFiles } from "./agent-files";
import { sameEntry } from "./tree";
import { type FileEntry, FileError, type Tree } from "./types";

/**
 * Differences of files and directories as text for an agent. Work is limited by counts, not by a
 * clock: the clock does not advance while code runs on the platform, and counts make results
 * deterministic.
 */
export const COMPARE_LIMITS = {
  /** Bytes of a file that is compared by line. */
  fileBytes: 1_048_576,
  /** Lines of both files together. */
  lines: 200_000,
  /** Lines of both files times the maximum number of differing lines. */
  steps: 20_000_000,
  /** Maximum number of differing lines. */
  edits: 2_000,
  /** UTF-16 units of the result. */
  text: 60_000,
} as const;
type Limits = { [Name in keyof typeof COMPARE_LIMITS]: number };

/** A file with its name for messages. */
export type Side = { name: string; bytes: Uint8Array };
/** `same`: byte for byte. `text` is never empty. */
export type Comparison = { same: boolean; text: string };

/** A unified diff of two files, or the reason why there is none. */
export function compareFiles(left: Side, right: Side, limits: Limits = COMPARE_LIMITS): Comparison {
  if (equal(left.bytes, right.bytes))
    return { same: true, text: `${left.name} and ${right.name} are the same.` };
  const differ = (why: string) => ({
    same: false,
    text: `${sized(left)} and ${sized(right)} differ${why}.`,
  });
  const tooLarge = "; they are too large to compare by line";
  if (Math.max(left.bytes.byteLength, right.bytes.byteLength) > limits.fileBytes)
    return differ(tooLarge);
  const [before, after] = [textOf(left.bytes), textOf(right.bytes)];
  if (before === null || after === null) return differ(", and are not both text");
  const lines = linesOf(before) + linesOf(after);
  if (lines > limits.lines) return differ(tooLarge);
  const patch = createTwoFilesPatch(left.name, right.name, before, after, undefined, undefined, {
    context: 3,
    maxEditLength: Math.min(limits.edits, Math.ceil(limits.steps / lines)),
    headerOptions: FILE_HEADERS_ONLY,
  });
  return patch === undefined
    ? differ(" in too many lines to tell them all")
    : { same: false, text: cut(patch, limits.text) };
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
    const [ours, theirs] = [left.get(path), right.get(path)];
    if (!theirs) compared.onlyLeft.push(path);
    else if (!ours) compared.onlyRight.push(path);
    else if (!sameEntry(ours, theirs)) compared.different.push(path);
    else compared.same += 1;
  }
  return compared;
}

/**
 * Compares two directories file by file. Throws `FileError` if a path does not exist, is not a
 * directory, or contains more than `most` files.
 */
export function compareDirectories(
  files: AgentFiles,
  { left, right, most }: { left: string; right: string; most: number },
): Comparison {
  const [ours, theirs] = [treeBelow(files, left, most), treeBelow(files, right, most)];
  const { onlyLeft, onlyRight, different, same } = compareTrees(ours, theirs);
  const isSame = onlyLeft.length + onlyRight.length + different.length === 0;
  const sections = [
    section(`Only in ${files.resolve(left)}`, onlyLeft),
    section(`Only in ${files.resolve(right)}`, onlyRight),
    section("Different", different),
    `The same: ${same}`,
  ];
  const text = sections.filter((part) => part !== "").join("\n");
  return { same: isSame, text: cut(text, COMPARE_LIMITS.text) };
}

function treeBelow(files: AgentFiles, directory: string, most: number): Tree {
  files.list(directory); // throws for a file
  const root = files.resolve(directory);
  const { paths, more } = files.walk(directory, most);
  if (more)
    throw new FileError(
      "too_many_files",
      `${root} holds more than ${most} files. Compare directories further down.`,
    );
  const entries = paths.map((path): [string, FileEntry] => {
    const { hash, size, executable } = files.stat(path);
    return [
      path.slice(root === "/" ? 1 : root.length + 1),
      { hash: hash ?? "", size, ...(executable && { executable: true }) },
    ];
  });
  return new Map(entries);
}

const section = (title: string, paths: readonly string[]): string =>
  paths.length === 0
    ? ""
    : [`${title} (${paths.length}):`, ...paths.map((path) => `  ${path}`)].join("\n");

const sized = ({ name, bytes }: Side): string =>
  `${name} (${bytes.byteLength.toLocaleString("en-US")} bytes)`;

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, at) => byte === b[at]);
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
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** Cuts after a complete line, unless lines are very long, and states the cut. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf("\n", most);
  const kept = text.slice(0, end > most / 2 ? end : most).toWellFormed();
  return `${kept}\n… ${(text.length - kept.length).toLocaleString("en-US")} more characters are left out.\n`;
}
