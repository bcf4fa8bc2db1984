import * as z from "zod";
import { WorkBudget } from "../../patterns";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";
import { matchingPaths } from "./glob";
import { reducedLimits, type FileToolLimits } from "./file-limits";
import { fitLines } from "./page";

const schema = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe(
      "e.g. *.py, src/**/*.test.ts, {README,LICENSE}*. Without a slash it is about names in any directory.",
    ),
  path: z.string().optional().describe("Where to search; default /workspace."),
});

/** `search_files`: finds files whose paths match a pattern. */
export const searchFilesTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "search_files",
    description: "Finds files whose paths match a pattern. To search in their contents, use grep.",
    schema,
    async run({ pattern, path }, files, context) {
      const root = files.resolve(path ?? "/workspace");
      const { paths, more } = await files.walk(root, limits.searchedFiles);
      const found = await matchingPaths({ pattern, paths, root }, new WorkBudget(), context.signal);
      if (found.length === 0)
        return `No file in ${root} matches ${pattern}.${more ? notAllSearched(limits) : ""}`;
      const { text, hiddenLines } = fitLines(
        found.slice(0, limits.entries),
        reducedLimits(limits, context).resultBytes,
      );
      const hiddenPaths = hiddenLines + Math.max(0, found.length - limits.entries);
      const notes = [
        hiddenPaths > 0 ? `\n[${hiddenPaths} more match. Narrow the pattern or the path.]` : "",
        more ? `\n[${notAllSearched(limits).trim()}]` : "",
      ];
      return text + notes.join("");
    },
  });

const notAllSearched = ({ searchedFiles }: FileToolLimits): string =>
  ` Only the first ${searchedFiles} files were looked at; narrow the path.`;
