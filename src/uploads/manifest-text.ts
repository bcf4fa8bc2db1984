import * as z from "zod";
import type { FileEntry, Tree } from "../workspace/types";
import { hashOf } from "../workspace/snapshot";

/**
 * The stored tree of a version, by path. `from`: id of the version whose upload stored the contents
 * of the file.
 */
export type StoredManifest = ReadonlyMap<string, StoredFile>;
type StoredFile = FileEntry & { from: string };

/** A file: path, hash, size, whether it is executable (1), and `from`. */
const RowSchema = z.tuple([
  z.string(),
  z.string(),
  z.number(),
  z.union([z.literal(0), z.literal(1)]),
  z.string(),
]);
const StoredSchema = z.object({ files: z.array(RowSchema) });

/** The text in which a manifest is stored. */
export const encodeManifest = (manifest: StoredManifest): string =>
  JSON.stringify({
    files: [...manifest].map(([path, { hash, size, executable, from }]) => [
      path,
      hash,
      size,
      executable ? 1 : 0,
      from,
    ]),
  });

/** Parses a text of `encodeManifest`. Throws for any other text. */
export const decodeManifest = (text: string): StoredManifest =>
  new Map(
    StoredSchema.parse(JSON.parse(text)).files.map(([path, hash, size, executable, from]) => [
      path,
      { ...toEntry(hash, size, executable === 1), from },
    ]),
  );

/** A file of a tree. Omits `executable` if it is false. */
export const toEntry = (hash: string, size: number, executable: boolean): FileEntry => ({
  hash,
  size,
  ...(executable ? { executable: true as const } : {}),
});

/** The tree of a version, without the versions of the contents. */
export const toTree = (manifest: StoredManifest): Tree =>
  new Map(
    [...manifest].map(([path, { hash, size, executable }]) => [
      path,
      toEntry(hash, size, executable ?? false),
    ]),
  );

/** The hash of a tree. It is equal for trees with equal files. */
export const treeHash = (tree: Tree): Promise<string> => {
  const rows = [...tree].map(([path, { hash, size, executable }]) => [
    path,
    hash,
    size,
    executable ?? false,
  ]);
  return hashOf(new TextEncoder().encode(JSON.stringify(rows)));
};

/**
 * The manifest of a new version. `older`: the manifest of its base; `null` if it has none. Contents
 * that the base has are not stored again.
 */
export function manifestOf(
  tree: Tree,
  version: string,
  older: StoredManifest | null,
): StoredManifest {
  const places = placesOf(older);
  return new Map(
    [...tree].map(([path, entry]) => [path, { ...entry, from: places.get(entry.hash) ?? version }]),
  );
}

/** The version that stores the contents of each hash. */
export const placesOf = (manifest: StoredManifest | null): ReadonlyMap<string, string> =>
  new Map([...(manifest?.values() ?? [])].map(({ hash, from }) => [hash, from]));

/** The contents that the upload of this version must store: hash → size. */
export const ownBlobs = (manifest: StoredManifest, version: string): ReadonlyMap<string, number> =>
  new Map(
    [...manifest.values()]
      .filter(({ from }) => from === version)
      .map(({ hash, size }) => [hash, size]),
  );
