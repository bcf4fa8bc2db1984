import { byteLength } from "../../coordination/byte-length";
import { beforePair, showControls } from "../large-results";
import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";

/** A part of a text as it is shown, and the start of the next part. */
type Page = {
  text: string;
  /** UTF-16 offsets into the whole text; the next page starts at `end`. */
  start: number;
  end: number;
};

/**
 * The page from `start`, of at most `most` characters and `bytes` as shown. Always contains at
 * least one character.
 */
export function characterPage(text: string, start: number, most: number, bytes: number): Page {
  const from = boundary(text, Math.min(start, text.length));
  // A single character is shown even if it exceeds `bytes`.
  const least = boundary(text, from + 1) === from ? from + 2 : from + 1;
  let length = Math.min(most, text.length - from, bytes);
  for (;;) {
    const end = Math.max(boundary(text, from + length), Math.min(least, text.length));
    const shown = showControls(text.slice(from, end));
    if (end <= least || byteLength(shown) <= bytes) return { text: shown, start: from, end };
    length = Math.floor((end - from) / 2);
  }
}

/** The position, or the one before it if it would split a surrogate pair or a CRLF. */
function boundary(text: string, position: number): number {
  const parts = text[position - 1] === "\r" && text[position] === "\n";
  return parts ? position - 1 : beforePair(text, position);
}

type LinePage = {
  text: string;
  /** The last complete line, counted from 1; `first` - 1 if not even that one fits. */
  last: number;
};

/** Complete lines from `first` to at most `last` (from 1, inclusive) that fit into `bytes`. */
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

/** Start of a line, in UTF-16 units. `line` counts from 1. */
export function startOfLine(text: string, line: number): number {
  let start = 0;
  for (let passed = 1; passed < line; passed++) start = text.indexOf("\n", start) + 1;
  return start;
}

/** Lines joined up to `bytes`, and the number of lines left out. */
export function fittingLines(
  lines: readonly string[],
  bytes: number,
): { text: string; left: number } {
  const { text, last } = linePage(lines, { first: 1, last: lines.length, numbered: false }, bytes);
  return { text, left: lines.length - last };
}

/** Bytes checked at the start of a file: a NUL means a binary file, as in git. */
const SNIFFED_BYTES = 8_192;

/** The text of UTF-8 bytes; `null` if they are not valid text. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * The text of a file. Throws `FileError` `file_binary` if it is not text, and the errors of
 * `files.read`.
 */
export async function readText(files: AgentFiles, path: string): Promise<string> {
  const bytes = await files.read(path);
  const text = decodeText(bytes);
  if (text !== null) return text;
  throw new FileError(
    "file_binary",
    `${files.resolve(path)} is not a text file in UTF-8 (${bytes.length} bytes), so it is not shown. copy_file and move_file take it as it is; in the shell, \`od -c\`, \`base64\` and \`strings\` show it.`,
  );
}

/** Lines without line ends, and without the empty line after a final line feed. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
