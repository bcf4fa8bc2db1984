import { z } from "zod";
import type { FileEntry, Tree } from "../workspace/types";
import { hashOf } from "../workspace/snapshot";

/** The stored tree of a version: each file with the version whose upload created its contents. */
export type StoredManifest = ReadonlyMap<string, StoredFile>;
type StoredFile = FileEntry & { from: string };

/** Path, hash, size, executable, version of its contents. */
const RowSchema = z.tuple([
  z.string(),
  z.string(),
  z.number(),
  z.union([z.literal(0), z.literal(1)]),
  z.string(),
]);
const StoredSchema = z.object({ files: z.array(RowSchema) });

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

/** Throws unless `encodeManifest` wrote the text. */
export const decodeManifest = (text: string): StoredManifest =>
  new Map(
    StoredSchema.parse(JSON.parse(text)).files.map(([path, hash, size, runs, from]) => [
      path,
      { ...toEntry(hash, size, runs === 1), from },
    ]),
  );

export const toEntry = (hash: string, size: number, executable: boolean): FileEntry => ({
  hash,
  size,
  ...(executable ? { executable: true as const } : {}),
});

export const toTree = (manifest: StoredManifest): Tree =>
  new Map(
    [...manifest].map(([path, { hash, size, executable }]) => [
      path,
      toEntry(hash, size, executable ?? false),
    ]),
  );

/** Equal for trees with equal files. */
export const treeHash = (tree: Tree): Promise<string> => {
  const rows = [...tree].map(([path, { hash, size, executable }]) => [
    path,
    hash,
    size,
    executable ?? false,
  ]);
  return hashOf(new TextEncoder().encode(JSON.stringify(rows)));
};

/** The manifest of a new version; contents of older versions are reused. */
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

/** The version of each hash. */
export const placesOf = (manifest: StoredManifest | null): ReadonlyMap<string, string> =>
  new Map([...(manifest?.values() ?? [])].map(({ hash, from }) => [hash, from]));

/** Contents that a version's own upload must bring: hash → size. */
export const ownBlobs = (manifest: StoredManifest, version: string): ReadonlyMap<string, number> =>
  new Map(
    [...manifest.values()]
      .filter(({ from }) => from === version)
      .map(({ hash, size }) => [hash, size]),
  );
