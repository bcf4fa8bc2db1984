import * as z from "zod";
import { TurnStatusSchema } from "./figures";

/** The media types of a diff: the response of the API, and the text that `git apply` reads. */
export const JSON_TYPE = "application/json";
export const PATCH_TYPE = "text/x-diff";

/** The differences between two points of a session. */

const PointSchema = z
  .object({
    reference: z
      .string()
      .describe("The reference, with the turn and the attempt that it was resolved to"),
    turn: z
      .int()
      .nullable()
      .describe("Number of the turn; `null` for the state before the first turn"),
    attempt: z
      .int()
      .nullable()
      .describe("Number of the attempt of the answer; `null` if the reference names no answer"),
    label: z
      .string()
      .nullable()
      .describe(
        "Label of the answer, or of the turn's final text; `null` if there is no such text",
      ),
    status: TurnStatusSchema.nullable().describe(
      "Status of the turn; `null` for the state before the first turn",
    ),
  })
  .meta({ id: "DiffPoint" });
export type DiffPoint = z.infer<typeof PointSchema>;

const sha256 = z.string().describe("SHA-256 of the contents, in lower-case hex");
const FileSideSchema = z.object({
  sha256,
  size: z.int().describe("Size in bytes"),
  executable: z
    .literal(true)
    .optional()
    .describe("Whether the file is executable. Omitted if it is not"),
});

/** Why contents were not compared. */
export const NOT_COMPARED_REASONS = [
  "binary",
  "too_large",
  "too_many_changes",
  "limit_reached",
  "unavailable",
] as const;
const notCompared = z
  .enum(NOT_COMPARED_REASONS)
  .optional()
  .describe(
    "Why only size and hash are given. `binary`: not UTF-8 text. `too_large`: over 1 MB. `too_many_changes`: the comparison needs too many steps. `limit_reached`: this diff has reached a limit of its size or work. `unavailable`: the contents are no longer stored. Omitted if the contents were compared",
  );

const HunkSchema = z
  .object({
    from_start: z
      .int()
      .describe("Number of the first line in the old file; of the line before if there is none"),
    from_lines: z.int().describe("Number of lines in the old file"),
    to_start: z
      .int()
      .describe("Number of the first line in the new file; of the line before if there is none"),
    to_lines: z.int().describe("Number of lines in the new file"),
    lines: z
      .array(z.string())
      .describe(
        "Lines of a unified diff, without line feeds: a space, `-` or `+`, then the line. `\\ No newline at end of file` follows a last line without line feed",
      ),
  })
  .meta({ id: "DiffHunk" });

export const DiffFileSchema = z
  .object({
    change: z
      .enum(["added", "deleted", "changed", "renamed"])
      .describe("`renamed`: the same contents at another path"),
    path: z
      .string()
      .describe(
        "Path of the file, relative to the workspace. Files of a context begin with `contexts/`, the name of the context and `/`",
      ),
    from_path: z.string().optional().describe("Old path of a renamed file. Omitted for others"),
    from: FileSideSchema.nullable().describe("The old file; `null` if there is none"),
    to: FileSideSchema.nullable().describe("The new file; `null` if there is none"),
    added: z.int().nullable().describe("Number of added lines; `null` if not compared"),
    deleted: z.int().nullable().describe("Number of deleted lines; `null` if not compared"),
    hunks: z
      .array(HunkSchema)
      .describe("The changed lines, in order. Empty if not compared, or if no line changed"),
    not_compared: notCompared,
  })
  .meta({ id: "DiffFile" });
export type DiffFile = z.infer<typeof DiffFileSchema>;

const TextSideSchema = z.object({ sha256, size: z.int().describe("Size in bytes of UTF-8") });
const DiffAnswerSchema = z
  .object({
    from: TextSideSchema.nullable().describe("The old text; `null` if there is none"),
    to: TextSideSchema.nullable().describe("The new text; `null` if there is none"),
    parts: z
      .array(
        z.object({
          op: z.enum(["same", "deleted", "added"]).describe("Which texts have the part"),
          text: z.string().describe("Text of the part"),
        }),
      )
      .nullable()
      .describe("Both texts by words, in order; `null` if not compared"),
    not_compared: notCompared,
  })
  .meta({ id: "DiffAnswer" });
export type DiffAnswer = z.infer<typeof DiffAnswerSchema>;

const count = (name: string) => z.int().describe(`Number of ${name} files, listed or not`);

export const DiffSchema = z
  .object({
    object: z.literal("diff").describe("Always `diff`"),
    session_id: z.string().describe("Id of the session"),
    from: PointSchema.describe("The old point"),
    to: PointSchema.describe("The new point"),
    counts: z
      .object({
        added: count("added"),
        deleted: count("deleted"),
        changed: count("changed"),
        renamed: count("renamed"),
      })
      .describe("Numbers of files"),
    data: z
      .array(DiffFileSchema)
      .describe("The files that differ: those of the workspace, then those of each context"),
    more: z.int().describe("Number of files that differ and are not listed"),
    unavailable_contexts: z
      .array(z.string())
      .optional()
      .describe(
        "Contexts that could not be compared, because a version is erased. Omitted if there are none",
      ),
    answer: DiffAnswerSchema.nullable().describe(
      "The texts of both points: answers, or final answers of turns; `null` if neither has one",
    ),
  })
  .meta({ id: "Diff" });
export type Diff = z.infer<typeof DiffSchema>;
