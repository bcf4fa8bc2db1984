import * as z from "zod";
import type { ToolRule } from "../../protocol/team";
import { RESULTS_DIRECTORY } from "../../workspace/workspace-facts";
import { FileError } from "../../workspace/types";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";
import { FILE_TOOL_LIMITS, type FileToolLimits, reducedLimits } from "./file-limits";
import { characterResult } from "./read-file";
import { readText } from "./page";

/** The tool that reads pages of large results. Only agents without a workspace get this tool. */

const NAME = "read_tool_result";

export const READ_TOOL_RESULT_RULE: ToolRule = {
  name: NAME,
  acts_outside: false,
  idempotent: true,
};

/**
 * Whether large results are stored for an agent without a workspace. Older sessions have neither
 * this rule nor the tool that reads stored results.
 */
export const readsToolResults = (rules: readonly ToolRule[]): boolean =>
  rules.some(({ name }) => name === NAME);

const schema = z.strictObject({
  path: z
    .string()
    .describe(
      `The path that the result names, e.g. ${RESULTS_DIRECTORY}/search_20260101T120000Z_1.txt.`,
    ),
  start_char: z.int().min(0).optional().describe("First character, from 0."),
  max_chars: z.int().min(1).optional().describe("How many characters from start_char."),
});

/** `read_tool_result`: reads a page of a stored result. Refuses all other files. */
export const readToolResultTool = (limits: FileToolLimits = FILE_TOOL_LIMITS): Tool =>
  defineFileTool({
    name: NAME,
    description:
      "Reads a result of one of your tools that was too large for the conversation, a page at a time. Results are kept until your round ends.",
    schema,
    async run(args, files, context) {
      const path = files.resolve(args.path);
      if (!path.startsWith(`/workspace/${RESULTS_DIRECTORY}/`)) {
        throw new FileError(
          "path_outside",
          `${path} is no kept result. Give the path that a result names.`,
        );
      }
      return characterResult(
        await readText(files, path),
        path,
        args,
        reducedLimits(limits, context),
      );
    },
  });
