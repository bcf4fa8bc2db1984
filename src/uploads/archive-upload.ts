import type { ContextBlobs, VersionPlace } from "../../r2-layout/contexts";
import type { SkippedEntry } from "../protocol/api/contexts";
import { hashOf } from "../workspace/snapshot";
import type { Tree } from "../workspace/types";
import { commitUpload } from "./commit-upload";
import type { ContextStore, Owner } from "./context-store";
import { abandon } from "./erase-uploads";
import { encodeManifest, manifestOf, placesOf, toEntry, treeHash } from "./manifest-text";
import { PackWriter } from "./packs";
import type { ArchiveEntry } from "./read-tar";
import { charge, chargedFiles, ownBytes } from "./storage-account";
import { manifestOfBase } from "./stored-manifest";
import { packStore, storedContents } from "./stored-packs";
import { TreeBuilder, treeBytes } from "./tree-builder";
import type { UploadResult } from "./uploads";

/** Maximum number of skipped entries in a response. */
const MAX_LISTED_SKIPPED = 1_000;
const MAX_NAME_CHARS = 1_000;

/** Returns the entries of an archive. A zip is first stored at `place` in `files`. */
export type OpenArchive = (place: VersionPlace, files: ContextBlobs) => AsyncIterable<ArchiveEntry>;

/**
 * Stores an archive as a new version. If an entry is refused, erases the files that were stored so
 * far, and throws `UploadRefusal`.
 */
export async function putArchive(
  store: ContextStore,
  owner: Owner,
  open: OpenArchive,
  now: number,
): Promise<UploadResult> {
  const newest = await store.index.newest(owner.tenant, owner.name);
  const { id: version, builtOn } = await store.index.begin({
    ...owner,
    id: store.newId(now, newest?.id ?? null),
    treeHash: null,
    createdAt: now,
  });
  const place = { tenant: owner.tenant, version };
  try {
    const files = chargedFiles(store.files, store.index, { ...owner, id: version });
    const archive = { charged: files, entries: open(place, files) };
    const uploaded = await storeArchive(store, owner, { ...place, builtOn }, archive);
    if (uploaded.version !== version) await abandon(store, { ...owner, id: version });
    return uploaded;
  } catch (error) {
    await abandon(store, { ...owner, id: version });
    throw error;
  }
}

/** `charged`: the storage that charges the contents before it stores them. */
type OpenedArchive = { charged: ContextBlobs; entries: AsyncIterable<ArchiveEntry> };

async function storeArchive(
  store: ContextStore,
  owner: Owner,
  { builtOn, ...place }: VersionPlace & { builtOn: string | null },
  { charged, entries }: OpenedArchive,
): Promise<UploadResult> {
  const newest = await store.index.newest(owner.tenant, owner.name);
  const older = await manifestOfBase(store.files, place, builtOn);
  const { tree, skipResult } = await storeEntries(charged, place, placesOf(older), entries);
  const counts = { files: tree.size, bytes: treeBytes(tree), ...skipResult, missing: [] };
  const hash = await treeHash(tree);
  if (newest?.treeHash === hash) return { ...counts, version: newest.id, status: "unchanged" };
  const manifest = manifestOf(tree, place.version, older);
  const text = encodeManifest(manifest);
  // The final size is known now. Charge it in place of the steps that were charged in advance.
  await charge(
    store.index,
    { ...owner, id: place.version },
    ownBytes(manifest, text, place.version),
  );
  await store.files.putManifest(place, text);
  const stored = await storedContents(store.files, place);
  const complete = { version: place.version, builtOn, manifest, stored };
  await commitUpload(store, owner, {
    ...complete,
    tree,
    hash,
    base: undefined,
    sent: { includes: [], leftOut: [] },
  });
  return { ...counts, version: place.version, status: "committed" };
}

type StoredTree = { tree: Tree; skipResult: Pick<UploadResult, "skipped" | "skipped_more"> };

async function storeEntries(
  files: ContextBlobs,
  place: VersionPlace,
  older: ReadonlyMap<string, string>,
  entries: AsyncIterable<ArchiveEntry>,
): Promise<StoredTree> {
  const builder = new TreeBuilder();
  const skipped: SkippedEntry[] = [];
  let more = 0;
  const writer = new PackWriter(packStore(files, place), older.keys());
  const storeEntry = async (entry: ArchiveEntry) => {
    if (entry.kind === "skipped") {
      if (skipped.length < MAX_LISTED_SKIPPED)
        skipped.push({ path: entry.name.slice(0, MAX_NAME_CHARS), reason: entry.reason });
      else more += 1;
      return;
    }
    builder.place(entry.name);
    const hash = await hashOf(entry.bytes);
    builder.add(entry.name, toEntry(hash, entry.bytes.byteLength, entry.executable));
    await writer.put(hash, entry.bytes);
  };
  try {
    for await (const entry of entries) await storeEntry(entry);
  } finally {
    // Wait also after a refusal: no put may finish after the files have been erased.
    await writer.end();
  }
  const skipResult = { skipped, ...(more > 0 && { skipped_more: more }) };
  return { tree: builder.tree(), skipResult };
}
