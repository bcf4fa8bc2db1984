import { z } from "zod";
import { FileError } from "../../workspace/types";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";
import { readText } from "./text";

const schema = z.strictObject({
  path: z.string().describe("The file."),
  old_string: z.string().min(1).describe("The exact text to replace, white space and all."),
  new_string: z.string().describe("The text to put there."),
  expected_count: z
    .int()
    .min(1)
    .optional()
    .describe("How often old_string must occur; default 1. If it does not, nothing is changed."),
  replace_all: z.boolean().optional().describe("Replaces every occurrence, however many there are."),
});

/** `edit_file`: one exact text for another, only if it occurs as often as the model believes. */
export const editFileTool = (): Tool =>
  defineFileTool({
    name: "edit_file",
    description:
      "Replaces an exact text in a file. old_string must occur exactly once, unless expected_count or replace_all says else.",
    schema,
    async run(args, files) {
      const path = files.resolve(args.path);
      const text = await readText(files, args.path);
      const { old, replacement } = inLinesOf(text, args.old_string, args.new_string);
      if (old === replacement)
        throw new FileError("edit_without_change", "old_string and new_string are the same. Nothing was changed.");
      const found = occurrences(text, old);
      checkCount(
        path,
        args,
        found.map((at) => lineAt(text, at)),
      );
      const bytes = new TextEncoder().encode(text.split(old).join(replacement));
      await files.write(args.path, bytes, files.stat(args.path).executable);
      return `Replaced ${times(found.length)} in ${path}, at ${lineList(found.map((at) => lineAt(text, at)))}.`;
    },
  });

/** Models write line feeds; a file whose lines all end in CRLF keeps them so. */
function inLinesOf(text: string, old: string, replacement: string): { old: string; replacement: string } {
  const windows = text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
  if (!windows || old.includes("\r")) return { old, replacement };
  return { old: old.replaceAll("\n", "\r\n"), replacement: replacement.replaceAll(/\r?\n/g, "\r\n") };
}

function occurrences(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found.push(at);
  return found;
}

function checkCount(path: string, args: z.infer<typeof schema>, lines: readonly number[]): void {
  if (lines.length === 0) {
    throw new FileError(
      "edit_not_found",
      `old_string does not occur in ${path}, so nothing was changed. Read the part of the file again: white space and quotes must match exactly.`,
    );
  }
  const expected = args.expected_count ?? 1;
  if (args.replace_all || lines.length === expected) return;
  throw new FileError(
    "edit_count",
    `old_string occurs ${times(lines.length)} in ${path}, at ${lineList(lines)}, not ${times(expected)}; nothing was changed. Put more of the text around it into old_string, or set expected_count or replace_all.`,
  );
}

function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

const times = (count: number): string => (count === 1 ? "once" : `${count} times`);

function lineList(lines: readonly number[]): string {
  const shown = lines.slice(0, 20).join(", ");
  return `line${lines.length === 1 ? "" : "s"} ${shown}${lines.length > 20 ? " …" : ""}`;
}
