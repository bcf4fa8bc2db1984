import * as z from "zod";
import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";

const schema = z.strictObject({
  source: z.string().describe("The file or directory."),
  destination: z.string().describe("Its new path, name included. Missing directories are made."),
  overwrite: z.boolean().optional().describe("Replaces a file that is already there."),
});

/**
 * `copy_file`: copies a file or directory without sending its contents through the conversation.
 */
export const copyFileTool = (): Tool =>
  defineFileTool({
    name: "copy_file",
    description:
      "Copies a file, or a directory with all that is in it, e.g. from a peer's snapshot into your workspace. Binary files too.",
    schema,
    async run({ source, destination, overwrite }, files) {
      await checkDestination(files, destination, overwrite);
      await files.withTree(source, () => files.copy(source, destination));
      return `Copied ${files.resolve(source)} to ${files.resolve(destination)}.`;
    },
  });

/** `move_file`: moves or renames a file or directory. */
export const moveFileTool = (): Tool =>
  defineFileTool({
    name: "move_file",
    description: "Moves or renames a file or directory.",
    schema,
    async run({ source, destination, overwrite }, files) {
      const [from, to] = [files.resolve(source), files.resolve(destination)];
      if (from !== to) await checkDestination(files, destination, overwrite);
      files.move(source, destination);
      return `Moved ${from} to ${to}.`;
    },
  });

const deleteSchema = z.strictObject({ path: z.string().describe("The file or directory.") });

/** `delete_file`: deletes a file or directory. */
export const deleteFileTool = (): Tool =>
  defineFileTool({
    name: "delete_file",
    description:
      "Deletes a file, or a directory with all that is in it. What you did not write yourself must be read before.",
    schema: deleteSchema,
    async run({ path }, files) {
      files.remove(path);
      return `Deleted ${files.resolve(path)}.`;
    },
  });

/** Throws `FileError` if the destination exists and may not be replaced. */
async function checkDestination(
  files: AgentFiles,
  destination: string,
  overwrite = false,
): Promise<void> {
  const existing = await files.withTree(destination, () =>
    files.exists(destination) ? files.stat(destination) : null,
  );
  if (!existing) return;
  const path = files.resolve(destination);
  if (existing.kind === "directory")
    throw new FileError(
      "exists",
      `${path} is a directory that is already there. Name the new path in it, with the file's own name.`,
    );
  if (!overwrite)
    throw new FileError("exists", `${path} is already there. Take another name, or set overwrite.`);
}
