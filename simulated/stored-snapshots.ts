import * as z from "zod";
import { hashOf } from "../src/workspace/snapshot";

/** The read operations of R2. */
export type ReadableBucket = {
  list(options: { prefix: string }): Promise<{ objects: { key: string }[] }>;
  get(
    key: string,
  ): Promise<{ arrayBuffer(): Promise<ArrayBuffer>; text(): Promise<string> } | null>;
};

const ChangeSchema = z.union([
  z.strictObject({ path: z.string(), deleted: z.literal(true) }),
  z.strictObject({
    path: z.string(),
    sha256: z.string(),
    size: z.number(),
    executable: z.literal(true).optional(),
    pack: z.string().optional(),
    at: z.number().optional(),
    lost: z.literal(true).optional(),
  }),
]);
const ManifestSchema = z.strictObject({
  version: z.literal(1),
  parent: z.string().nullable(),
  taken_at: z.number(),
  files: z.number(),
  bytes: z.number(),
  changes: z.array(ChangeSchema),
});
type Manifest = z.infer<typeof ManifestSchema>;
type WrittenFile = Extract<Manifest["changes"][number], { sha256: string }>;

/**
 * `trees`: for each snapshot by name, its files by path, each as `{sha256} {size}`. `problems`: a
 * message for each part that is missing or different.
 */
export type StoredSnapshots = { trees: Record<string, Record<string, string>>; problems: string[] };

/**
 * Reads the snapshots of a session from R2 alone and checks that they are complete (invariant I10).
 * `prefix`: key prefix of the session.
 */
export async function readStoredSnapshots(
  bucket: ReadableBucket,
  prefix: string,
): Promise<StoredSnapshots> {
  const snapshotPrefix = `${prefix}snapshots/`;
  const { objects } = await bucket.list({ prefix: snapshotPrefix });
  const manifests = new Map<string, Manifest>();
  for (const { key } of objects) {
    const text = await (await bucket.get(key))?.text();
    manifests.set(
      key.slice(snapshotPrefix.length, -".json".length),
      ManifestSchema.parse(JSON.parse(text ?? "null")),
    );
  }
  const problems: string[] = [];
  const trees: StoredSnapshots["trees"] = {};
  const objectAt = reader(bucket, prefix);
  for (const [name, manifest] of manifests) {
    const tree = treeOf(manifest, manifests, problems);
    trees[name] = Object.fromEntries(
      [...tree].map(([path, { sha256, size }]) => [path, `${sha256} ${size}`]),
    );
    const bytes = [...tree.values()].reduce((sum, { size }) => sum + size, 0);
    if (tree.size !== manifest.files || bytes !== manifest.bytes)
      problems.push(`${name} has other files than it says`);
    for (const [path, entry] of tree) {
      if (entry.lost) problems.push(`${name} ${path} is lost`);
      else if (!(await isStored(entry, objectAt)))
        problems.push(`${name} ${path} is not there as its manifest says`);
    }
  }
  return { trees, problems };
}

/** All files of a snapshot: those of its parent with its own changes. */
function treeOf(
  { parent, changes }: Manifest,
  manifests: ReadonlyMap<string, Manifest>,
  problems: string[],
): Map<string, WrittenFile> {
  const base = parent === null ? null : manifests.get(parent);
  if (base === undefined) problems.push(`the snapshot ${parent} is missing`);
  const tree = base ? treeOf(base, manifests, problems) : new Map<string, WrittenFile>();
  for (const change of changes) {
    if ("deleted" in change) tree.delete(change.path);
    else tree.set(change.path, change);
  }
  return tree;
}

type ObjectAt = (key: string) => Promise<Uint8Array<ArrayBuffer> | null>;

/** Reads each object only once, because a pack contains many files. */
function reader(bucket: Pick<ReadableBucket, "get">, prefix: string): ObjectAt {
  const read = new Map<string, ReturnType<ObjectAt>>();
  const get = async (key: string) => {
    const found = await bucket.get(prefix + key);
    return found && new Uint8Array(await found.arrayBuffer());
  };
  return (key) => {
    const known = read.get(key) ?? get(key);
    read.set(key, known);
    return known;
  };
}

/** Whether R2 has the contents that the manifest describes. */
async function isStored(
  { sha256, size, pack, at = 0 }: WrittenFile,
  objectAt: ObjectAt,
): Promise<boolean> {
  if (size === 0) return true;
  const object = await objectAt(pack === undefined ? `blobs/${sha256}` : `packs/${pack}`);
  if (pack === undefined && object?.byteLength !== size) return false;
  const contents = object?.slice(at, at + size);
  return contents?.byteLength === size && (await hashOf(contents)) === sha256;
}
