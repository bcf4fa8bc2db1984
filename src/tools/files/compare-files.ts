import * as z from "zod";
import { compareDirectories, compareFiles } from "../../workspace/compare";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";
import { type FileToolLimits, reducedLimits } from "./file-limits";
import { fitLines, linesOf } from "./page";

const schema = z.strictObject({
  first: z.string().describe("e.g. app.py"),
  second: z.string().describe("e.g. /peers/agent2/app.py"),
});

/** `compare_files`: shows a unified diff of two files. */
export const compareFilesTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "compare_files",
    description: "Compares two text files and shows what differs as a unified diff.",
    schema,
    async run({ first, second }, files, context) {
      const left = { name: files.resolve(first), bytes: await files.read(first) };
      const right = { name: files.resolve(second), bytes: await files.read(second) };
      return fitDifference(compareFiles(left, right).text, reducedLimits(limits, context));
    },
  });

/** `compare_directories`: lists the files that differ. Compares hashes, so it reads no contents. */
export const compareDirectoriesTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "compare_directories",
    description:
      "Compares two directories with all that is in them: which files are only in one, and which differ. Then use compare_files.",
    schema,
    async run({ first, second }, files, context) {
      const { text } = await compareDirectories(files, {
        left: first,
        right: second,
        most: limits.searchedFiles,
      });
      return fitDifference(text, reducedLimits(limits, context));
    },
  });

function fitDifference(difference: string, { resultBytes }: FileToolLimits): string {
  const { text, hiddenLines } = fitLines(linesOf(difference), resultBytes);
  return hiddenLines === 0
    ? text
    : `${text}\n[${hiddenLines} more lines of the difference are not shown.]`;
}
