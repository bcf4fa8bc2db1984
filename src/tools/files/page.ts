import { byteLength } from "../../coordination/byte-length";
import { beforePair, showControls } from "../results";
import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";

/** One piece of a text, as it may be shown, and where the next begins. */
type Page = {
  text: string;
  /** UTF-16 units into the whole text; `end` is where the next page begins. */
  start: number;
  end: number;
};

/** The piece that begins at `start`, of at most `most` characters, that takes at most `bytes` when shown. Always goes forward. */
export function characterPage(text: string, start: number, most: number, bytes: number): Page {
  const from = boundary(text, Math.min(start, text.length));
  // A character that alone takes more than there is room for is shown all the same.
  const least = boundary(text, from + 1) === from ? from + 2 : from + 1;
  let length = Math.min(most, text.length - from, bytes);
  for (;;) {
    const end = Math.max(boundary(text, from + length), Math.min(least, text.length));
    const shown = showControls(text.slice(from, end));
    if (end <= least || byteLength(shown) <= bytes) return { text: shown, start: from, end };
    length = Math.floor((end - from) / 2);
  }
}

/** The same position, or the one before it where it would part what is shown as one: a character, a Windows line break. */
function boundary(text: string, position: number): number {
  const parts = text[position - 1] === "\r" && text[position] === "\n";
  return parts ? position - 1 : beforePair(text, position);
}

type LinePage = {
  text: string;
  /** Of the last line that is shown whole, counted from 1; one less than `first` if even that one is too long. */
  last: number;
};

/** Lines `first` to `last` (from 1, both included), as many whole ones as fit into `bytes`. */
export function linePage(
  lines: readonly string[],
  range: { first: number; last: number; numbered: boolean },
  bytes: number,
): LinePage {
  const shown: string[] = [];
  let left = bytes;
  let at = range.first;
  for (; at <= range.last; at++) {
    const line = showControls((lines[at - 1] ?? "").replace(/\r$/, ""));
    const text = range.numbered ? `${at}\t${line}` : line;
    left -= byteLength(text) + 1;
    if (left < 0) break;
    shown.push(text);
  }
  return { text: shown.join("\n"), last: at - 1 };
}

/** Where a line begins, in UTF-16 units. `line` counts from 1. */
export function startOfLine(text: string, line: number): number {
  let start = 0;
  for (let passed = 1; passed < line; passed++) start = text.indexOf("\n", start) + 1;
  return start;
}

/** Lines joined until they take `bytes`, and how many were left out. */
export function fittingLines(
  lines: readonly string[],
  bytes: number,
): { text: string; left: number } {
  const { text, last } = linePage(lines, { first: 1, last: lines.length, numbered: false }, bytes);
  return { text, left: lines.length - last };
}

/** Of a file's beginning: a NUL in it tells a binary file, as it does for git. */
const SNIFFED_BYTES = 8_192;

/** The text that bytes are in UTF-8, exactly, or null if they are none. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** A file's text. Throws `FileError` `file_binary` for what is none, besides what `files.read` throws. */
export async function readText(files: AgentFiles, path: string): Promise<string> {
  const bytes = await files.read(path);
  const text = decodeText(bytes);
  if (text !== null) return text;
  throw new FileError(
    "file_binary",
    `${files.resolve(path)} is not a text file in UTF-8 (${bytes.length} bytes), so it is not shown. copy_file and move_file take it as it is; in the shell, \`od -c\`, \`base64\` and \`strings\` show it.`,
  );
}

/** Lines without their ends; the empty one after a final line feed is none. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
