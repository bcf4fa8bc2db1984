import { z } from "zod";
import { ofTool } from "./fields";

/** What events say about agents' files. */

/**
 * Whose files go with a text. `workspace`: the workspace as it is. `workspace_cleared`: the same, and the round itself emptied it.
 * `kept`: no tool of the round wrote, moved or deleted a file, so earlier files stay.
 */
export const HandedFilesSchema = z.enum(["workspace", "workspace_cleared", "kept"]);
export type HandedFiles = z.infer<typeof HandedFilesSchema>;

/** Files of the author's previous answer that are missing although the round did not delete them: `paths` names the first of `count`. */
export const LeftOutSchema = z.object({ count: z.number().int(), paths: z.array(z.string()) });
export type LeftOut = z.infer<typeof LeftOutSchema>;

/** One line of the audit trail. */
export const FileAccessSchema = z.object({
  operation: z.enum(["read", "list", "write", "delete"]),
  /** As the agent sees it, resolved: `/workspace/a`, `/peers/agent2/a`, `/contexts/site/a`. */
  path: z.string(),
  /** null: it was done; else the stable code of what kept it from being done. `not_kept`: it was, and dropped, as its call went wrong. */
  refused: z.string().nullable(),
  /** For how many this line stands, where a call has more than an event may hold: `path` is then a directory above them, with a slash at its end. */
  files: z.number().int().optional(),
});
export type FileAccess = z.infer<typeof FileAccessSchema>;

/** Events of agents' files. */
export const FILE_EVENTS = [
  /** The audit trail: what a tool did to files, or tried to; comes right before the tool's end. */
  z.object({
    type: z.literal("files.accessed"),
    ...ofTool,
    accesses: z.array(FileAccessSchema),
    /** Accesses beyond those listed, in logs that left them out. */
    more: z.number().int().optional(),
  }),
] as const;
