import * as z from "zod";

/** An entry in a list of an agent's files. */
const SessionFileSchema = z
  .object({
    path: z.string().describe("Path relative to the root of the workspace"),
    sha256: z.string().describe("SHA-256 of the contents, in lower-case hex"),
    size: z.int().describe("Size in bytes"),
    executable: z
      .literal(true)
      .optional()
      .describe("Whether the file is executable. Omitted if it is not"),
    content_type: z
      .string()
      .optional()
      .describe(
        "Media type that the file's name implies; `application/octet-stream` if it implies none. The contents may differ",
      ),
  })
  .meta({ id: "SessionFile" });

export const SessionFilesSchema = z
  .object({
    object: z.literal("list").describe("Always `list`"),
    label: z
      .string()
      .nullable()
      .describe(
        "Label of the answer or final text that the files belong to; `null` if the turn has no result",
      ),
    attempt: z.int().describe("Number of the attempt in the turn, from 1"),
    files: z.int().describe("Number of files"),
    bytes: z.int().describe("Total size of the files in bytes"),
    data: z.array(SessionFileSchema).describe("The files, sorted by path"),
  })
  .meta({ id: "SessionFiles" });
export type SessionFiles = z.infer<typeof SessionFilesSchema>;
