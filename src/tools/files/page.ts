import { byteLength } from "../../coordination/byte-length";
import { beforePair, showControls } from "../results";

/** One piece of a text, as it may be shown, and where the next begins. */
export type Page = {
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

export type LinePage = {
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
