import { z } from "zod";
import type { AgentFiles } from "../../workspace/agent-files";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";
import { fittingInto, type FileToolLimits } from "./file-limits";
import { below } from "./glob";
import { fittingLines } from "./page";

const schema = z.strictObject({
  path: z
    .string()
    .optional()
    .describe("The directory; default /workspace. / holds workspace, peers and contexts."),
  recursive: z.boolean().optional().describe("Lists all files below it instead, by their paths."),
});

/** `list_directory`: the entries of a directory, or all files below it, with sizes. */
export const listDirectoryTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "list_directory",
    description:
      "Lists a directory: names of directories end with a slash, files have their size in bytes.",
    schema,
    async run({ path, recursive }, files, context) {
      const root = files.resolve(path ?? "/workspace");
      const { lines, more } = recursive
        ? filesBelow(files, root, limits.entries)
        : entriesIn(files, root, limits.entries);
      if (lines.length === 0) return `[${root} is empty.]`;
      const { text, left } = fittingLines(lines, fittingInto(limits, context).resultBytes);
      const isCut = more || left > 0;
      return isCut
        ? `${text}\n[There is more. List a directory further down, or use search_files.]`
        : text;
    },
  });

type Lines = { lines: string[]; more: boolean };

function entriesIn(files: AgentFiles, root: string, most: number): Lines {
  const entries = files.list(root);
  const lines = entries
    .slice(0, most)
    .map(({ name, kind, size }) => (kind === "directory" ? `${name}/` : `${name}  ${size}`));
  return { lines, more: entries.length > most };
}

function filesBelow(files: AgentFiles, root: string, most: number): Lines {
  const { paths, more } = files.walk(root, most);
  return { lines: paths.map((path) => `${below(path, root)}  ${files.stat(path).size}`), more };
}
