import { z } from "zod";
import { byteLength } from "../../coordination/byte-length";
import { FileError } from "../../workspace/types";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";
import { readText } from "./page";

/** Line numbers of occurrences that a message lists. */
const SHOWN_LINES = 20;
/** Occurrences replaced per step. */
const OCCURRENCES_AT_ONCE = 1_000;

const encoder = new TextEncoder();

const schema = z.strictObject({
  path: z.string().describe("The file."),
  old_string: z.string().min(1).describe("The exact text to replace, white space and all."),
  new_string: z.string().describe("The text to put there."),
  expected_count: z
    .int()
    .min(1)
    .optional()
    .describe("How often old_string must occur; default 1. If it does not, nothing is changed."),
  replace_all: z
    .boolean()
    .optional()
    .describe("Replaces every occurrence, however many there are."),
});

/**
 * `edit_file`: replaces one exact text by another, only if it occurs as often as the model expects.
 */
export const editFileTool = (): Tool =>
  defineFileTool({
    name: "edit_file",
    description:
      "Replaces an exact text in a file. old_string must occur exactly once, unless expected_count or replace_all says else.",
    schema,
    async run(args, files) {
      const path = files.resolve(args.path);
      const text = await readText(files, args.path);
      const edit = inLinesOf(text, args.old_string, args.new_string.toWellFormed());
      if (edit.old === edit.replacement)
        throw new FileError(
          "edit_without_change",
          "old_string and new_string are the same. Nothing was changed.",
        );
      const found = occurrences(text, edit.old);
      checkCount(path, args, found);
      const { size, executable } = files.stat(args.path);
      const newSize = size + found.count * (byteLength(edit.replacement) - byteLength(edit.old));
      files.checkWrite(args.path, newSize);
      await files.write(args.path, edited(text, edit, newSize), executable);
      return `Replaced ${times(found.count)} in ${path}, at ${lineList(found)}.`;
    },
  });

type Edit = { old: string; replacement: string };

/** Models write line feeds. If all lines of a file end in CRLF, the edit keeps CRLF. */
function inLinesOf(text: string, old: string, replacement: string): Edit {
  const windows = text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
  if (!windows || old.includes("\r")) return { old, replacement };
  return {
    old: old.replaceAll("\n", "\r\n"),
    replacement: replacement.replaceAll(/\r?\n/g, "\r\n"),
  };
}

/** Number of occurrences, and the lines of the first SHOWN_LINES of them. */
type Occurrences = { count: number; lines: number[] };

/** Half of a surrogate pair has no occurrences. */
function occurrences(text: string, part: string): Occurrences {
  const found: Occurrences = { count: 0, lines: [] };
  if (!part.isWellFormed()) return found;
  let line = 1;
  let passed = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) {
    found.count++;
    if (found.lines.length === SHOWN_LINES) continue;
    line += lineFeeds(text, passed, at);
    passed = at;
    found.lines.push(line);
  }
  return found;
}

function lineFeeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1))
    count++;
  return count;
}

/**
 * The new contents, of `size` bytes. Built piece by piece: with millions of occurrences, all pieces
 * at once would exhaust the memory.
 */
function edited(text: string, { old, replacement }: Edit, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let written = 0;
  for (const piece of pieces(text, old))
    written += encoder.encodeInto(
      piece.split(old).join(replacement),
      bytes.subarray(written),
    ).written;
  return bytes;
}

/** The text in parts that do not split an occurrence. */
function* pieces(text: string, part: string): Generator<string> {
  let [start, count] = [0, 0];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) {
    if (++count % OCCURRENCES_AT_ONCE !== 0) continue;
    yield text.slice(start, at + part.length);
    start = at + part.length;
  }
  yield text.slice(start);
}

function checkCount(path: string, args: z.infer<typeof schema>, found: Occurrences): void {
  if (found.count === 0) {
    throw new FileError(
      "edit_not_found",
      `old_string does not occur in ${path}, so nothing was changed. Read the part of the file again: white space and quotes must match exactly.`,
    );
  }
  const expected = args.expected_count ?? 1;
  if (args.replace_all || found.count === expected) return;
  throw new FileError(
    "edit_count",
    `old_string occurs ${times(found.count)} in ${path}, at ${lineList(found)}, not ${times(expected)}; nothing was changed. Put more of the text around it into old_string, or set expected_count or replace_all.`,
  );
}

const times = (count: number): string => (count === 1 ? "once" : `${count} times`);

const lineList = ({ count, lines }: Occurrences): string =>
  `line${count === 1 ? "" : "s"} ${lines.join(", ")}${count > lines.length ? " …" : ""}`;
