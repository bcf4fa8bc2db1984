import * as z from "zod";
import type { AgentFiles } from "../../workspace/agent-files";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";
import { reducedLimits, type FileToolLimits } from "./file-limits";
import { relativePath } from "./glob";
import { fitLines } from "./page";

const schema = z.strictObject({
  path: z
    .string()
    .optional()
    .describe("The directory; default /workspace. / holds workspace, peers and contexts."),
  recursive: z.boolean().optional().describe("Lists all files below it instead, by their paths."),
});

/** `list_directory`: lists the entries of a directory, or all files below it, with sizes. */
export const listDirectoryTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "list_directory",
    description:
      "Lists a directory: names of directories end with a slash, files have their size in bytes.",
    schema,
    async run({ path, recursive }, files, context) {
      const root = files.resolve(path ?? "/workspace");
      const { lines, more } = recursive
        ? filesIn(files, root, limits.entries)
        : entriesIn(files, root, limits.entries);
      if (lines.length === 0) return `[${root} is empty.]`;
      const { text, hiddenLines } = fitLines(lines, reducedLimits(limits, context).resultBytes);
      const isCut = more || hiddenLines > 0;
      return isCut
        ? `${text}\n[There is more. List a directory further down, or use search_files.]`
        : text;
    },
  });

/** Lines of a listing. `more`: whether there are more than the limit allows. */
type Lines = { lines: string[]; more: boolean };

function entriesIn(files: AgentFiles, root: string, maxEntries: number): Lines {
  const entries = files.list(root);
  const lines = entries
    .slice(0, maxEntries)
    .map(({ name, kind, size }) => (kind === "directory" ? `${name}/` : `${name}  ${size}`));
  return { lines, more: entries.length > maxEntries };
}

function filesIn(files: AgentFiles, root: string, maxEntries: number): Lines {
  const { paths, more } = files.walk(root, maxEntries);
  return {
    lines: paths.map((path) => `${relativePath(path, root)}  ${files.stat(path).size}`),
    more,
  };
}
