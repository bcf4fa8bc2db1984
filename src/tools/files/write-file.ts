import * as z from "zod";
import { FileError } from "../../workspace/types";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";

const schema = z.strictObject({
  path: z.string().describe("The file, e.g. src/app.py. Missing directories are made."),
  content: z.string().describe("The whole new text of the file."),
});

/** `write_file`: creates a file or replaces its contents. */
export const writeFileTool = (): Tool =>
  defineFileTool({
    name: "write_file",
    description:
      "Writes a whole text file; what was there before is replaced. To change a part of a file, use edit_file.",
    schema,
    async run({ path, content }, files) {
      const existing = await files.withTree(path, () =>
        files.exists(path) ? files.stat(path) : null,
      );
      if (existing?.kind === "directory") {
        throw new FileError("is_directory", `${files.resolve(path)} is a directory. Name a file.`);
      }
      const bytes = new TextEncoder().encode(content);
      await files.write(path, bytes, existing?.executable);
      return `Wrote ${bytes.length} bytes to ${files.resolve(path)} (${existing ? `before: ${existing.size} bytes` : "a new file"}).`;
    },
  });
