import { z } from "zod";
import { CONTEXT_LIMITS } from "../context-limits";

/** Contexts: trees of files that a user uploads, names in a config, and gets changes of back. */

/** Names stand in paths that models type: short and plain, and no device's on any disk. */
export const CONTEXT_NAME = /^(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$)[a-z0-9][a-z0-9_-]{0,62}$/;
export const ContextNameSchema = z
  .string()
  .regex(
    CONTEXT_NAME,
    "is 1 to 63 lower-case letters, digits, dashes and underscores, a letter or digit first, and no name of a device",
  );

/** The name for what lies at a path of somebody's machine: its last part, as far as it can be one. null if none can be made of it. */
export function contextNameFrom(path: string): string | null {
  const last = path.split(/[/\\]/).findLast((part) => part !== "") ?? "";
  const name = last
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "-")
    .replaceAll(/^[-_]+|[-_]+$/g, "")
    .slice(0, 63);
  return CONTEXT_NAME.test(name) ? name : null;
}

/** A version's id sorts by the time its upload began. */
export const VERSION_ID = /^[0-9a-z]{26}$/;
export const VersionIdSchema = z.string().regex(VERSION_ID, "is no id of a version");

/** SHA-256 in lower-case hex. */
export const BLOB_HASH = /^[0-9a-f]{64}$/;
const HashSchema = z.string().regex(BLOB_HASH, "is no SHA-256 in lower-case hex");

const seconds = z.number().describe("Unix time in seconds");

export const ContextFileSchema = z
  .strictObject({
    path: z
      .string()
      .min(1)
      .max(4_096)
      .describe("Relative to the context's root, parts joined by `/`"),
    sha256: HashSchema,
    size: z.int().min(0).describe("Bytes"),
    executable: z.literal(true).optional(),
  })
  .meta({ id: "ContextFile" });
export type ContextFile = z.infer<typeof ContextFileSchema>;

export const ContextManifestSchema = z
  .strictObject({
    files: z
      .array(ContextFileSchema)
      .max(CONTEXT_LIMITS.files, `has more than ${CONTEXT_LIMITS.files} files`),
    base_version: VersionIdSchema.nullable()
      .optional()
      .describe(
        "The version this was made from, null for none: refused where another is the newest by now",
      ),
  })
  .meta({ id: "ContextManifest" });
export type ContextManifest = z.infer<typeof ContextManifestSchema>;

export const SkippedEntrySchema = z
  .object({
    path: z.string(),
    reason: z.string().describe("What it is: `symlink`, `hard link`, `device`, `setuid`, …"),
  })
  .meta({ id: "SkippedEntry" });
export type SkippedEntry = z.infer<typeof SkippedEntrySchema>;

export const ContextUploadSchema = z
  .object({
    name: ContextNameSchema,
    version: VersionIdSchema,
    status: z
      .enum(["committed", "unchanged", "uploading"])
      .describe(
        "`uploading`: send what is missing, then the same manifest again; `unchanged`: the newest version is this one",
      ),
    files: z.int(),
    bytes: z.int(),
    missing: z.array(HashSchema).describe("Hashes of the blobs that are still to be sent"),
    skipped: z
      .array(SkippedEntrySchema)
      .describe("Entries of an archive that were left out, the first thousand"),
    skipped_more: z.int().optional().describe("How many were left out beyond those; absent: none"),
    links: z.object({ context: z.string(), blobs: z.string() }),
  })
  .meta({ id: "ContextUpload" });
export type ContextUpload = z.infer<typeof ContextUploadSchema>;

export const BlobsStoredSchema = z
  .object({ stored: z.int().describe("How many were sent and are there now") })
  .meta({ id: "BlobsStored" });
export type BlobsStored = z.infer<typeof BlobsStoredSchema>;

const entry = {
  name: ContextNameSchema,
  version: VersionIdSchema,
  files: z.int(),
  bytes: z.int(),
  created_at: seconds,
  links: z.object({ context: z.string(), archive: z.string() }),
};
export const ContextEntrySchema = z.object(entry).meta({ id: "ContextEntry" });
export type ContextEntry = z.infer<typeof ContextEntrySchema>;

/** One version, whole. `tree`: its files by path, sorted. */
export const ContextSchema = z
  .object({ ...entry, tree: z.array(ContextFileSchema) })
  .meta({ id: "Context" });
export type Context = z.infer<typeof ContextSchema>;

export const ContextListSchema = z
  .object({
    object: z.literal("list"),
    data: z.array(ContextEntrySchema),
    first_id: ContextNameSchema.nullable(),
    last_id: ContextNameSchema.nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: "ContextList" });
export type ContextList = z.infer<typeof ContextListSchema>;

/** What became of a file of a context: its new contents, or null where it is gone. */
export const ContextChangeSchema = z
  .object({
    path: z.string(),
    hash: HashSchema.nullable(),
    size: z.int().min(0).describe("Bytes; 0 where it is gone"),
    executable: z.literal(true).optional(),
  })
  .meta({ id: "ContextChange" });

/** What a turn's presenter changed in one context, against the version that was uploaded. */
export const ContextChangesSchema = z
  .object({
    context: ContextNameSchema,
    base_version: VersionIdSchema,
    changes: z.array(ContextChangeSchema),
  })
  .meta({ id: "ContextChanges" });
export type ContextChanges = z.infer<typeof ContextChangesSchema>;

/** Of all contexts that a turn changed. */
export const TurnChangesSchema = z
  .object({ object: z.literal("list"), data: z.array(ContextChangesSchema) })
  .meta({ id: "TurnChanges" });
export type TurnChanges = z.infer<typeof TurnChangesSchema>;
