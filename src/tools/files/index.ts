import type { Tool } from "../tool";
import { compareDirectoriesTool, compareFilesTool } from "./compare-files";
import { editFileTool } from "./edit-file";
import { grepTool } from "./grep";
import { FILE_TOOL_LIMITS, type FileToolLimits } from "./file-limits";
import { listDirectoryTool } from "./list-directory";
import { readFileTool } from "./read-file";
import { searchFilesTool } from "./search-files";
import { copyFileTool, deleteFileTool, moveFileTool } from "./move-files";
import { writeFileTool } from "./write-file";

export { defineFileTool, type FileToolDefinition } from "./define-tool";
export { READ_TOOL_RESULT_RULE, readsToolResults, readToolResultTool } from "./read-tool-result";
export { FILE_TOOL_LIMITS, type FileToolLimits } from "./file-limits";

/** All file tools, always in the same order, because providers cache prompts by exact prefix. */
export function fileTools(limits: FileToolLimits = FILE_TOOL_LIMITS): Tool[] {
  return [
    readFileTool(limits),
    writeFileTool(),
    editFileTool(),
    listDirectoryTool(limits),
    searchFilesTool(limits),
    grepTool(limits),
    copyFileTool(),
    moveFileTool(),
    deleteFileTool(),
    compareFilesTool(limits),
    compareDirectoriesTool(limits),
  ];
}
