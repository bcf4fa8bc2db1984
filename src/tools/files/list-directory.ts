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
        ? await filesIn(files, root, limits.entries)
        : await entriesIn(files, root, limits.entries);
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

async function entriesIn(files: AgentFiles, root: string, maxEntries: number): Promise<Lines> {
  const entries = await files.withTree(root, () => files.list(root));
  const lines = entries
    .slice(0, maxEntries)
    .map(({ name, kind, size }) => (kind === "directory" ? `${name}/` : `${name}  ${size}`));
  return { lines, more: entries.length > maxEntries };
}

async function filesIn(files: AgentFiles, root: string, maxEntries: number): Promise<Lines> {
  const { paths, more } = await files.walk(root, maxEntries);
  const lines: string[] = [];
  for (const path of paths) {
    const { size } = await files.withTree(path, () => files.stat(path));
    lines.push(`${relativePath(path, root)}  ${size}`);
  }
  return { lines, more };
}
