import { z } from "zod";

/** Files of agents as they are listed. */
const SessionFileSchema = z
  .object({
    path: z.string().describe("From the root of the workspace"),
    sha256: z.string(),
    size: z.int().describe("Bytes"),
    executable: z.literal(true).optional(),
  })
  .meta({ id: "SessionFile" });

export const SessionFilesSchema = z
  .object({
    object: z.literal("list"),
    label: z
      .string()
      .nullable()
      .describe("Whose files they are: an answer's, or a final's; null if the turn has no result"),
    attempt: z.int(),
    files: z.int().describe("How many there are"),
    bytes: z.int().describe("What they come to together"),
    data: z.array(SessionFileSchema).describe("By path"),
  })
  .meta({ id: "SessionFiles" });
export type SessionFiles = z.infer<typeof SessionFilesSchema>;
