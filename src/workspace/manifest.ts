import { z } from "zod";
import { relativePath } from "./paths";
import { byPath, fileAsDirectory } from "./tree";
import { type FileEntry, FileError, type TreeChanges } from "./types";

/**
 * Serialized form of a tree: a base and changes. Equal trees give equal texts: paths are sorted,
 * and author and time are not included.
 */
export type Manifest = {
  /** The name of the base tree; `null` if the changes are the whole tree. */
  base: string | null;
  changes: TreeChanges;
};

const VERSION = 1;

const WrittenSchema = z.object({
  path: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.int().nonnegative(),
  executable: z.literal(true).optional(),
});
const GoneSchema = z.object({ path: z.string(), deleted: z.literal(true) });
const ManifestSchema = z.object({
  version: z.literal(VERSION),
  base: z.string().nullable(),
  changes: z.array(z.union([GoneSchema, WrittenSchema])),
});
type Change = z.infer<typeof GoneSchema> | z.infer<typeof WrittenSchema>;

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
  const improper = changes.findIndex(({ path }) => !isProper(path));
  if (improper >= 0) throw invalid(`changes.${improper}.path: not a proper path`);
  const decoded = new Map(changes.map((change) => [change.path, entryOf(change)]));
  if (decoded.size < changes.length) throw invalid("a path is in it twice");
  const written = new Map([...decoded].filter(([, entry]) => entry !== null));
  const both = fileAsDirectory(written);
  if (both !== null) throw invalid(`${both} is a file and a directory`);
  if (base === null && written.size < decoded.size)
    throw invalid("something is deleted of nothing");
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

/** Characters that new names must not contain, but that older stored trees may. */
const KEPT_MARKS = /(?!\p{Bidi_Control})\p{Default_Ignorable_Code_Point}/gu;

/** Has one form only, and no marks. */
const PLAIN = /^[\w./-]+$/;

/** Whether it is a normalized path. */
function isProper(path: string): boolean {
  try {
    if (PLAIN.test(path)) return relativePath(path) === path;
    const seen = path.replaceAll(KEPT_MARKS, "");
    return path.normalize("NFC") === path && relativePath(seen) === seen.normalize("NFC");
  } catch (error) {
    if (error instanceof FileError) return false;
    throw error;
  }
}

const invalid = (problem: string): FileError =>
  new FileError("manifest_invalid", `The list of files cannot be used: ${problem}.`);
