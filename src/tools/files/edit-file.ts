import * as z from "zod";
import { byteLength } from "../../coordination/byte-length";
import { FileError } from "../../workspace/types";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";
import { readText } from "./page";

/** Maximum number of line numbers in a message. */
const SHOWN_LINES = 20;
/** Number of occurrences that are replaced in one step. */
const OCCURRENCES_PER_STEP = 1_000;

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
 * `edit_file`: replaces an exact text. It changes the file only if the text occurs as often as the
 * model expects.
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
      const edit = withLineEndsOf(text, args.old_string, args.new_string.toWellFormed());
      if (edit.old === edit.replacement)
        throw new FileError(
          "edit_without_change",
          "old_string and new_string are the same. Nothing was changed.",
        );
      const found = findOccurrences(text, edit.old);
      checkCount(path, args, found);
      const { size, executable } = await files.withTree(args.path, () => files.stat(args.path));
      const newSize = size + found.count * (byteLength(edit.replacement) - byteLength(edit.old));
      files.checkWrite(args.path, newSize);
      await files.write(args.path, editedBytes(text, edit, newSize), executable);
      return `Replaced ${times(found.count)} in ${path}, at ${lineList(found)}.`;
    },
  });

type Edit = { old: string; replacement: string };

/**
 * The edit with the line ends of the file. Models write line feeds; if all lines of the file end in
 * CRLF, the edit uses CRLF too.
 */
function withLineEndsOf(text: string, old: string, replacement: string): Edit {
  const usesCrlf = text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
  if (!usesCrlf || old.includes("\r")) return { old, replacement };
  return {
    old: old.replaceAll("\n", "\r\n"),
    replacement: replacement.replaceAll(/\r?\n/g, "\r\n"),
  };
}

/** The occurrences of a text. `lines`: line numbers of the first `SHOWN_LINES` occurrences. */
type Occurrences = { count: number; lines: number[] };

/** Finds the occurrences of `part`. Half of a surrogate pair never occurs. */
function findOccurrences(text: string, part: string): Occurrences {
  const found: Occurrences = { count: 0, lines: [] };
  if (!part.isWellFormed()) return found;
  let line = 1;
  let countedTo = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) {
    found.count++;
    if (found.lines.length === SHOWN_LINES) continue;
    line += countLineFeeds(text, countedTo, at);
    countedTo = at;
    found.lines.push(line);
  }
  return found;
}

function countLineFeeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1))
    count++;
  return count;
}

/**
 * The new contents, of `size` bytes. They are built piece by piece, because with millions of
 * occurrences all pieces together would exhaust the memory.
 */
function editedBytes(text: string, { old, replacement }: Edit, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const piece of piecesOf(text, old)) {
    const editedPiece = piece.split(old).join(replacement);
    offset += encoder.encodeInto(editedPiece, bytes.subarray(offset)).written;
  }
  return bytes;
}

/** Splits a text into pieces, but never within an occurrence of `part`. */
function* piecesOf(text: string, part: string): Generator<string> {
  let [start, count] = [0, 0];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) {
    if (++count % OCCURRENCES_PER_STEP !== 0) continue;
    yield text.slice(start, at + part.length);
    start = at + part.length;
  }
  yield text.slice(start);
}

/** Throws `FileError` if the text does not occur as often as the model expects. */
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
