import * as z from "zod";
import { relativePath } from "./paths";
import { byPath, fileAsDirectory } from "./tree";
import { type FileEntry, FileError, type TreeChanges } from "./types";

/**
 * A tree in the form that is stored: the name of a base tree, and changes. Equal contents give
 * equal texts: paths are sorted, and author and time are not included.
 */
export type Manifest = {
  /** The name of the base tree; `null` if the changes are the whole tree. */
  base: string | null;
  changes: TreeChanges;
};

const VERSION = 1;

const FileSchema = z.object({
  path: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.int().nonnegative(),
  executable: z.literal(true).optional(),
});
const DeletedSchema = z.object({ path: z.string(), deleted: z.literal(true) });
const ManifestSchema = z.object({
  version: z.literal(VERSION),
  base: z.string().nullable(),
  changes: z.array(z.union([DeletedSchema, FileSchema])),
});
type Change = z.infer<typeof DeletedSchema> | z.infer<typeof FileSchema>;

export function encodeManifest({ base, changes }: Manifest): string {
  const listed: Change[] = [...byPath(changes)].map(([path, entry]) => {
    if (entry === null) return { path, deleted: true };
    const { hash, size, executable } = entry;
    return { path, sha256: hash, size, ...(executable && { executable }) };
  });
  return JSON.stringify({ version: VERSION, base, changes: listed });
}

/** Throws `FileError` `manifest_invalid` with the reason. */
export function decodeManifest(text: string): Manifest {
  const parsed = ManifestSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${issue?.path.join(".") || "it"}: ${issue?.message ?? "not understood"}`);
  }
  const { base, changes } = parsed.data;
  const invalidIndex = changes.findIndex(({ path }) => !isNormalized(path));
  if (invalidIndex >= 0) throw invalid(`changes.${invalidIndex}.path: not a proper path`);
  const decoded = new Map(changes.map((change) => [change.path, entryOf(change)]));
  if (decoded.size < changes.length) throw invalid("a path is in it twice");
  const files = new Map([...decoded].filter(([, entry]) => entry !== null));
  const conflict = fileAsDirectory(files);
  if (conflict !== null) throw invalid(`${conflict} is a file and a directory`);
  if (base === null && files.size < decoded.size) throw invalid("something is deleted of nothing");
  return { base, changes: byPath(decoded) };
}

function entryOf(change: Change): FileEntry | null {
  if ("deleted" in change) return null;
  const { sha256, size, executable } = change;
  return { hash: sha256, size, ...(executable && { executable }) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("it is not JSON");
  }
}

/**
 * Invisible characters that new names must not contain. Trees from older versions may have them.
 */
const INVISIBLE_IN_OLD_TREES = /(?!\p{Bidi_Control})\p{Default_Ignorable_Code_Point}/gu;

/** A path of ASCII characters, which needs no Unicode normalization. */
const ASCII_PATH = /^[\w./-]+$/;

/** Whether a path is relative and normalized. */
function isNormalized(path: string): boolean {
  try {
    if (ASCII_PATH.test(path)) return relativePath(path) === path;
    const visible = path.replaceAll(INVISIBLE_IN_OLD_TREES, "");
    return path.normalize("NFC") === path && relativePath(visible) === visible.normalize("NFC");
  } catch (error) {
    if (error instanceof FileError) return false;
    throw error;
  }
}

const invalid = (problem: string): FileError =>
  new FileError("manifest_invalid", `The list of files cannot be used: ${problem}.`);
