import * as z from "zod";
import { FileError } from "../../workspace/types";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";
import { type FileToolLimits, reducedLimits } from "./file-limits";
import { characterPage, linePage, linesOf, readText, startOfLine } from "./page";

const schema = z.strictObject({
  path: z
    .string()
    .describe("The file, e.g. notes/plan.md, /peers/agent2/app.py or /contexts/site/index.html."),
  start_line: z.int().min(1).optional().describe("First line, from 1."),
  end_line: z.int().min(1).optional().describe("Last line, included."),
  start_char: z
    .int()
    .min(0)
    .optional()
    .describe("First character, from 0, instead of lines: for very long lines."),
  max_chars: z.int().min(1).optional().describe("How many characters from start_char."),
  line_numbers: z.boolean().optional().describe("Puts the number and a tab before each line."),
});
type Args = z.infer<typeof schema>;

/** `read_file`: reads a text by lines or characters, one page per call. */
export const readFileTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "read_file",
    description:
      "Reads a text file. Without a range from its beginning; what is too long for one result ends with the position to read on from.",
    schema,
    async run(args, files, context) {
      const text = await readText(files, args.path);
      const path = files.resolve(args.path);
      const byCharacters = args.start_char !== undefined || args.max_chars !== undefined;
      if (byCharacters && (args.start_line !== undefined || args.end_line !== undefined)) {
        throw new FileError(
          "range_invalid",
          "Give either start_line and end_line, or start_char and max_chars, not both.",
        );
      }
      if (text === "") return `[${path} is empty.]`;
      const callLimits = reducedLimits(limits, context);
      return byCharacters
        ? characterResult(text, path, args, callLimits)
        : lineResult(text, path, args, callLimits);
    },
  });

/**
 * The result of a read by characters: a page, and where to continue. Throws `FileError` if the page
 * would start at or after the end of the text.
 */
export function characterResult(
  text: string,
  path: string,
  args: Pick<Args, "start_char" | "max_chars">,
  { resultBytes }: Pick<FileToolLimits, "resultBytes">,
): string {
  const from = args.start_char ?? 0;
  if (from >= text.length) {
    throw new FileError(
      "range_invalid",
      `${path} has ${text.length} characters; start_char must be less.`,
    );
  }
  const page = characterPage(text, from, args.max_chars ?? text.length, resultBytes);
  if (page.start === 0 && page.end === text.length) return page.text;
  const continuation = page.end < text.length ? ` Read on with start_char: ${page.end}.` : "";
  return `${page.text}\n[Characters ${page.start} to ${page.end} of ${text.length}.${continuation}]`;
}

function lineResult(text: string, path: string, args: Args, limits: FileToolLimits): string {
  const lines = linesOf(text);
  const first = args.start_line ?? 1;
  if (first > lines.length)
    throw new FileError(
      "range_invalid",
      `${path} has ${lines.length} lines; start_line must not be more.`,
    );
  const last = Math.min(args.end_line ?? lines.length, lines.length);
  if (last < first)
    throw new FileError("range_invalid", "end_line must not be less than start_line.");
  const page = linePage(
    lines,
    { first, last, numbered: args.line_numbers ?? false },
    limits.resultBytes,
  );
  if (page.last < first) return longLineResult(text, first, limits);
  if (first === 1 && page.last === lines.length) return page.text;
  const continuation =
    page.last < lines.length ? ` Read on with start_line: ${page.last + 1}.` : "";
  return `${page.text}\n[Lines ${first} to ${page.last} of ${lines.length}.${continuation}]`;
}

/** A page of a line that is too long for one result. */
function longLineResult(text: string, line: number, { resultBytes }: FileToolLimits): string {
  const page = characterPage(text, startOfLine(text, line), text.length, resultBytes);
  return `${page.text}\n[Line ${line} is too long for one result: characters ${page.start} to ${page.end} of ${text.length}. Read on with start_char: ${page.end}.]`;
}
