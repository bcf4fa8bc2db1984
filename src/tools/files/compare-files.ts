import { z } from "zod";
import { compareDirectories, compareFiles } from "../../workspace/compare";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";
import { type FileToolLimits, fittingInto } from "./file-limits";
import { fittingLines, linesOf } from "./page";

const schema = z.strictObject({
  first: z.string().describe("e.g. app.py"),
  second: z.string().describe("e.g. /peers/agent2/app.py"),
});

/** `compare_files`: a unified diff of two files. */
export const compareFilesTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "compare_files",
    description: "Compares two text files and shows what differs as a unified diff.",
    schema,
    async run({ first, second }, files, context) {
      const left = { name: files.resolve(first), bytes: await files.read(first) };
      const right = { name: files.resolve(second), bytes: await files.read(second) };
      return fitting(compareFiles(left, right).text, fittingInto(limits, context));
    },
  });

/** `compare_directories`: the files that differ, by hash, without reading them. */
export const compareDirectoriesTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "compare_directories",
    description:
      "Compares two directories with all that is in them: which files are only in one, and which differ. Then use compare_files.",
    schema,
    async run({ first, second }, files, context) {
      const { text } = compareDirectories(files, {
        left: first,
        right: second,
        most: limits.searchedFiles,
      });
      return fitting(text, fittingInto(limits, context));
    },
  });

function fitting(difference: string, { resultBytes }: FileToolLimits): string {
  const { text, left } = fittingLines(linesOf(difference), resultBytes);
  return left === 0 ? text : `${text}\n[${left} more lines of the difference are not shown.]`;
}
