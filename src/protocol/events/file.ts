import * as z from "zod";
import { count, ofTool } from "./fields";

/** Fields and events about agents' files. */

/** Which files belong to an answer or a final text. */
export const HandedFilesSchema = z
  .enum(["workspace", "workspace_cleared", "kept"])
  .describe(
    "`workspace`: the author's workspace. `workspace_cleared`: the workspace, which the round has emptied. `kept`: no tool of the round changed a file, so the earlier files stay",
  );
export type HandedFiles = z.infer<typeof HandedFilesSchema>;

/** Files of the author's previous answer that are missing although no tool deleted them. */
export const LeftOutSchema = z.object({
  count: count.describe("Number of missing files"),
  paths: z.array(z.string()).describe("Paths of the first of them"),
});
export type LeftOut = z.infer<typeof LeftOutSchema>;

/** One line of the audit trail. */
export const FileAccessSchema = z.object({
  operation: z.enum(["read", "list", "write", "delete"]).describe("Kind of access"),
  path: z
    .string()
    .describe(
      "Resolved path, as the agent sees it: `/workspace/a`, `/peers/agent2/a`, `/contexts/site/a`, `/turns/turn_2/a`",
    ),
  refused: z
    .string()
    .nullable()
    .describe(
      "Stable code of the reason for a refusal; `null` if the access was done. `not_kept`: it was done, then undone because its call failed",
    ),
  files: count
    .optional()
    .describe(
      "Number of files that this line summarizes, if a call has more accesses than an event may list. `path` is then their directory and ends with a slash. Omitted for a single file",
    ),
});
export type FileAccess = z.infer<typeof FileAccessSchema>;

/** Events of agents' files. */
export const FILE_EVENTS = [
  /** Comes directly before the event that ends the tool call. */
  z.object({
    type: z.literal("files.accessed"),
    ...ofTool,
    accesses: z.array(FileAccessSchema).describe("One line per access"),
    more: count
      .optional()
      .describe("Number of accesses that are not listed. Omitted if all are listed"),
  }),
] as const;
