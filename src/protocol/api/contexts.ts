import * as z from "zod";
import { CONTEXT_LIMITS, MAX_GRANTED_CONTEXTS, RECORD_LIMITS } from "../context-limits";
import { IdSchema } from "./ids";
import { listOf } from "./listing";
import { seconds } from "./time";

/**
 * Contexts in requests and responses. A context is a tree of files that a user uploads and that a
 * config refers to by name. A turn returns its changes to these files.
 */

/**
 * Names of contexts. They are part of paths that models write, so names are short and have only
 * plain characters. `con`, `nul` and similar names are devices on Windows.
 */
export const CONTEXT_NAME = /^(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$)[a-z0-9][a-z0-9_-]{0,62}$/;
export const ContextNameSchema = z
  .string()
  .regex(
    CONTEXT_NAME,
    "is 1 to 63 lower-case letters, digits, dashes and underscores, a letter or digit first, and no name of a device",
  );

/** Makes a context name from the last part of a local path; `null` if no valid name remains. */
export function contextNameFrom(path: string): string | null {
  const lastPart = path.split(/[/\\]/).findLast((part) => part !== "") ?? "";
  const name = lastPart
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "-")
    .replaceAll(/^[-_]+|[-_]+$/g, "")
    .slice(0, 63);
  return CONTEXT_NAME.test(name) ? name : null;
}

/** Ids of versions. They sort by the time at which the upload began. */
export const VERSION_ID = /^[0-9a-z]{26}$/;
export const VersionIdSchema = z.string().regex(VERSION_ID, "is no id of a version");

/** SHA-256 in lower-case hex. */
export const BLOB_HASH = /^[0-9a-f]{64}$/;
const HashSchema = z.string().regex(BLOB_HASH, "is no SHA-256 in lower-case hex");

const executable = z
  .literal(true)
  .optional()
  .describe("Whether the file is executable. Omitted if it is not");
const contextName = ContextNameSchema.describe("Name of the context");

export const ContextFileSchema = z
  .strictObject({
    path: z
      .string()
      .min(1)
      .max(4_096)
      .describe("Path relative to the root of the context, with `/` as separator"),
    sha256: HashSchema.describe("SHA-256 of the contents, in lower-case hex"),
    size: z.int().min(0).describe("Size in bytes"),
    executable,
  })
  .meta({ id: "ContextFile" });
export type ContextFile = z.infer<typeof ContextFileSchema>;

const recordPath = z.string().min(1).max(4_096);

/** A path of a folder whose base is older than the state of the recorded turn. */
export const RecordBaseSchema = z
  .strictObject({
    path: recordPath.describe("Path relative to the root of the context"),
    sha256: HashSchema.nullable().describe(
      "SHA-256 of the contents that the folder's file is based on; `null` if there was no file",
    ),
  })
  .meta({ id: "RecordBase" });

/** The turn of one session whose state of the context a version contains. */
export const IncludedTurnSchema = z
  .strictObject({
    session: IdSchema.describe("Id of the session"),
    turn: z.int().min(1).describe("Number of the turn that was pulled last"),
    left_out: z
      .array(recordPath)
      .max(RECORD_LIMITS.paths)
      .optional()
      .describe(
        "Paths of the turn's state that the folder does not send. They count as unchanged. A path that ends in `/` represents all files below it that the version lacks. Omitted if none",
      ),
    bases: z
      .array(RecordBaseSchema)
      .max(RECORD_LIMITS.paths)
      .optional()
      .describe("Paths whose base is not the turn's state. Omitted if none"),
  })
  .meta({ id: "IncludedTurn" });
export type IncludedTurn = z.infer<typeof IncludedTurnSchema>;

/**
 * The record of a version: the turns whose results it contains, one entry per session. The entry
 * that was written last is the last one.
 */
const IncludesSchema = z
  .array(IncludedTurnSchema)
  .max(RECORD_LIMITS.entries, `has more than ${RECORD_LIMITS.entries} entries`);
export type Includes = IncludedTurn[];

/**
 * Files that a version left out: their last contents in an older version. A folder, which ends in
 * `/`, represents all files below it that the version lacks.
 */
const LeftOutFilesSchema = z.array(RecordBaseSchema).max(RECORD_LIMITS.paths);
export type LeftOutFiles = z.infer<typeof LeftOutFilesSchema>;

export const ContextManifestSchema = z
  .strictObject({
    files: z
      .array(ContextFileSchema)
      .max(CONTEXT_LIMITS.files, `has more than ${CONTEXT_LIMITS.files} files`)
      .describe("All files of the version"),
    base_version: VersionIdSchema.nullable()
      .optional()
      .describe(
        "Id of the version that this one is based on; the upload is refused if another version is the newest. `null`: there must be no version yet. Omitted: not checked",
      ),
    includes: IncludesSchema.refine(
      (entries) => new Set(entries.map(({ session }) => session)).size === entries.length,
      "has two entries of one session",
    )
      .optional()
      .describe(
        "Turns whose results the files contain, one entry per session. Entries of other sessions are inherited from `base_version`. Omitted: nothing is added",
      ),
    left_out: LeftOutFilesSchema.optional().describe(
      "Files of `base_version` that are not sent because the folder excludes them, with their hashes in it. They do not count as deleted. A path that ends in `/`, with `null`, represents all files below it that are not sent. Those of `base_version` are inherited. Omitted: nothing is added",
    ),
  })
  .meta({ id: "ContextManifest" });
export type ContextManifest = z.infer<typeof ContextManifestSchema>;

export const SkippedEntrySchema = z
  .object({
    path: z.string().describe("Path of the entry in the archive"),
    reason: z
      .string()
      .describe("Kind of the entry, such as `symlink`, `hard link`, `device` or `setuid`"),
  })
  .meta({ id: "SkippedEntry" });
export type SkippedEntry = z.infer<typeof SkippedEntrySchema>;

export const ContextUploadSchema = z
  .object({
    name: contextName,
    version: VersionIdSchema.describe("Id of the version"),
    status: z
      .enum(["committed", "unchanged", "uploading"])
      .describe(
        "`committed`: the version was created. `unchanged`: the newest version has the same contents. `uploading`: send the missing blobs, then the same manifest again",
      ),
    files: z.int().describe("Number of files"),
    bytes: z.int().describe("Total size of the files in bytes"),
    missing: z.array(HashSchema).describe("SHA-256 hashes of the blobs that must be sent"),
    skipped: z
      .array(SkippedEntrySchema)
      .describe("Entries of the archive that were skipped; at most 1,000 are listed"),
    skipped_more: z
      .int()
      .optional()
      .describe("Number of skipped entries that are not listed. Omitted if all are listed"),
    links: z
      .object({
        context: z.string().describe("Path of the context"),
        blobs: z.string().describe("Path for sending the missing blobs"),
      })
      .describe("Paths on the same host"),
  })
  .meta({ id: "ContextUpload" });
export type ContextUpload = z.infer<typeof ContextUploadSchema>;

export const BlobsStoredSchema = z
  .object({ stored: z.int().describe("Number of blobs that were sent and are stored") })
  .meta({ id: "BlobsStored" });
export type BlobsStored = z.infer<typeof BlobsStoredSchema>;

/** Fields of a context that lists and single responses share. */
const entryFields = {
  name: contextName,
  version: VersionIdSchema.describe("Id of the version"),
  files: z.int().describe("Number of files"),
  bytes: z.int().describe("Total size of the files in bytes"),
  created_at: seconds.describe("Time at which the version was created, in Unix seconds"),
  links: z
    .object({
      context: z.string().describe("Path of the context"),
      archive: z.string().describe("Path of the files as a zip"),
    })
    .describe("Paths on the same host"),
};
export const ContextEntrySchema = z.object(entryFields).meta({ id: "ContextEntry" });
export type ContextEntry = z.infer<typeof ContextEntrySchema>;

/** One version of a context with its list of files. */
export const ContextSchema = z
  .object({
    ...entryFields,
    tree: z.array(ContextFileSchema).describe("The files, sorted by path"),
    includes: IncludesSchema.optional().describe(
      "Turns whose results the files contain, one entry per session. Omitted if none",
    ),
    left_out: LeftOutFilesSchema.optional().describe(
      "Files of older versions that this version leaves out without deleting them. A path that ends in `/` represents all files below it that the version lacks. Omitted if none",
    ),
  })
  .meta({ id: "Context" });
export type Context = z.infer<typeof ContextSchema>;

export const ContextListSchema = listOf(ContextEntrySchema, ContextNameSchema).meta({
  id: "ContextList",
});
export type ContextList = z.infer<typeof ContextListSchema>;

/** The change of one file of a context. */
export const ContextChangeSchema = z
  .object({
    path: z.string().describe("Path relative to the root of the context"),
    hash: HashSchema.nullable().describe(
      "SHA-256 of the new contents, in lower-case hex; `null` if the file was deleted",
    ),
    size: z.int().min(0).describe("Size of the new contents in bytes; 0 if the file was deleted"),
    executable,
  })
  .meta({ id: "ContextChange" });

/** The difference between a version of a context and the state of the context after a turn. */
export const ContextChangesSchema = z
  .object({
    context: contextName,
    base_version: VersionIdSchema.describe(
      "Id of the version that the changes are relative to: the newest at the start of the turn",
    ),
    changes: z
      .array(ContextChangeSchema)
      .describe("The changed and deleted files; empty if the turn ended with the version's files"),
  })
  .meta({ id: "ContextChanges" });
export type ContextChanges = z.infer<typeof ContextChangesSchema>;

/** Changes of a turn in all its contexts. */
export const TurnChangesSchema = z
  .object({
    object: z.literal("list").describe("Always `list`"),
    data: z.array(ContextChangesSchema).describe("One entry per context of the turn"),
  })
  .meta({ id: "TurnChanges" });
export type TurnChanges = z.infer<typeof TurnChangesSchema>;

/** A context that a request grants to all agents of the team. */
export const GrantedContextSchema = z
  .strictObject({
    name: contextName,
    permission: z
      .enum(["read", "write"])
      .optional()
      .describe(
        "`write`: the presenter may change files, except protected paths of the config. Omitted: `read`",
      ),
  })
  .meta({ id: "GrantedContext" });

/** The grants of a request. */
export const GrantedContextsSchema = z
  .array(GrantedContextSchema)
  .max(MAX_GRANTED_CONTEXTS, `has more than ${MAX_GRANTED_CONTEXTS} contexts`)
  .refine(
    (grants) => new Set(grants.map(({ name }) => name)).size === grants.length,
    "names a context twice",
  );
export type GrantedContexts = z.infer<typeof GrantedContextsSchema>;

/** The side that wins conflicts: the parent turn, or the uploaded version. */
export const ConflictSideSchema = z.enum(["turn", "upload"]);
export type ConflictSide = z.infer<typeof ConflictSideSchema>;

/** A file that both the parent turn and the user's upload changed. */
export const ContextConflictSchema = z
  .object({
    context: contextName,
    path: z.string().describe("Path relative to the root of the context"),
    turn: HashSchema.nullable().describe(
      "SHA-256 of the contents after the parent turn; `null` if there is no file",
    ),
    upload: HashSchema.nullable().describe(
      "SHA-256 of the contents in the newest version; `null` if there is no file",
    ),
  })
  .meta({ id: "ContextConflict" });
export type ContextConflict = z.infer<typeof ContextConflictSchema>;
