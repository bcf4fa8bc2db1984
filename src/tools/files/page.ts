import { byteLength } from "../../coordination/byte-length";
import { beforePair, showControls } from "../large-results";
import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";

/** A part of a text. */
type Page = {
  /** The part with control characters escaped, as the model sees it. */
  text: string;
  /** UTF-16 offsets of the part in the whole text. The next page starts at `end`. */
  start: number;
  end: number;
};

/**
 * The page that begins at `start`: at most `maxChars` characters of the text, and at most
 * `maxBytes` bytes with control characters escaped. It always contains at least one character.
 */
export function characterPage(
  text: string,
  start: number,
  maxChars: number,
  maxBytes: number,
): Page {
  const from = boundary(text, Math.min(start, text.length));
  // A single character is shown even if it exceeds `maxBytes`.
  const minEnd = boundary(text, from + 1) === from ? from + 2 : from + 1;
  let length = Math.min(maxChars, text.length - from, maxBytes);
  for (;;) {
    const end = Math.max(boundary(text, from + length), Math.min(minEnd, text.length));
    const shown = showControls(text.slice(from, end));
    if (end <= minEnd || byteLength(shown) <= maxBytes) return { text: shown, start: from, end };
    length = Math.floor((end - from) / 2);
  }
}

/** Returns `position`, or `position` - 1 if a cut there would split a surrogate pair or a CRLF. */
function boundary(text: string, position: number): number {
  const splitsCrlf = text[position - 1] === "\r" && text[position] === "\n";
  return splitsCrlf ? position - 1 : beforePair(text, position);
}

type LinePage = {
  text: string;
  /** Number of the last complete line, from 1; `first` - 1 if line `first` does not fit. */
  last: number;
};

/**
 * The complete lines from `first` to `last` that fit into `maxBytes`. Lines count from 1, and
 * `last` is included. `numbered`: whether a line begins with its number.
 */
export function linePage(
  lines: readonly string[],
  range: { first: number; last: number; numbered: boolean },
  maxBytes: number,
): LinePage {
  const shown: string[] = [];
  let bytesLeft = maxBytes;
  let number = range.first;
  for (; number <= range.last; number++) {
    const line = showControls((lines[number - 1] ?? "").replace(/\r$/, ""));
    const text = range.numbered ? `${number}\t${line}` : line;
    bytesLeft -= byteLength(text) + 1;
    if (bytesLeft < 0) break;
    shown.push(text);
  }
  return { text: shown.join("\n"), last: number - 1 };
}

/** The UTF-16 offset where a line starts. `line` counts from 1. */
export function startOfLine(text: string, line: number): number {
  let start = 0;
  for (let passedLine = 1; passedLine < line; passedLine++) start = text.indexOf("\n", start) + 1;
  return start;
}

/** The first lines, joined, that fit into `maxBytes`, and the number of the other lines. */
export function fitLines(
  lines: readonly string[],
  maxBytes: number,
): { text: string; hiddenLines: number } {
  const allLines = { first: 1, last: lines.length, numbered: false };
  const { text, last } = linePage(lines, allLines, maxBytes);
  return { text, hiddenLines: lines.length - last };
}

/** Bytes at the start of a file that are checked. As in git, a NUL byte means a binary file. */
const SNIFFED_BYTES = 8_192;

/** The text of UTF-8 bytes; `null` if the bytes are not valid text. */
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

/** The lines of a text, without line feeds, and without the empty line after a final line feed. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
