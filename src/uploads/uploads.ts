import type { ContextBlobs, VersionPlace } from "../../r2-layout/contexts";
import type { ContextManifest, SkippedEntry } from "../protocol/api/contexts";
import type { Tree } from "../workspace/types";
import { readExactly } from "./byte-queue";
import type { ContextIndex } from "./context-index";
import { hashOf } from "../workspace/snapshot";
import { PackWriter } from "./packs";
import type { ArchiveEntry } from "./read-tar";
import { UploadRefusal } from "./refusals";
import { charge, chargedFiles, ownBytes } from "./storage-account";
import {
  decodeManifest,
  encodeManifest,
  manifestOf,
  ownBlobs,
  placesOf,
  type StoredManifest,
  toEntry,
  treeHash,
} from "./manifest-text";
import { storedContents, packStore, writePlaces } from "./stored-packs";
import { TreeBuilder, treeBytes } from "./tree-builder";

/** The storage of contexts, and the other dependencies of uploads. */
export type ContextStore = {
  index: ContextIndex;
  files: ContextBlobs;
  /** A unique version id, sortable by time. */
  newId(now: number): string;
};

/** Identifies a context of a tenant. */
export type Owner = { tenant: string; name: string };

/** `unchanged`: the newest version has the same files. `uploading`: contents are missing. */
export type UploadResult = {
  version: string;
  status: "committed" | "unchanged" | "uploading";
  files: number;
  bytes: number;
  /** Hashes of contents that are not stored yet. */
  missing: string[];
  skipped: SkippedEntry[];
  /** Number of further skipped entries; omitted if none. */
  skipped_more?: number;
};

/** Maximum number of skipped entries in a response. */
const MAX_LISTED_SKIPPED = 1_000;
const MAX_NAME_CHARS = 1_000;

/**
 * Processes a manifest. If all contents are stored, commits them as the newest version. Otherwise
 * returns the missing contents. A client resumes the upload by sending the same manifest again. If
 * the newest version already has these files, does nothing. Throws `UploadRefusal`.
 */
export async function putManifest(
  store: ContextStore,
  owner: Owner,
  manifest: ContextManifest,
  now: number,
): Promise<UploadResult> {
  const tree = treeOf(manifest);
  const counts = { files: tree.size, bytes: treeBytes(tree), skipped: [] };
  const hash = await treeHash(tree);
  const newest = await store.index.newest(owner.tenant, owner.name);
  if (newest?.treeHash === hash)
    return { ...counts, version: newest.id, status: "unchanged", missing: [] };
  requireBase(manifest.base_version, newest?.id ?? null);
  const { id: version, builtOn } = await store.index.begin({
    ...owner,
    id: store.newId(now),
    treeHash: hash,
    createdAt: now,
  });
  const place = { tenant: owner.tenant, version };
  const upload = { ...owner, version };
  const stored = await storeManifest(store, upload, builtOn, tree);
  await requireExistingUpload(store, upload);
  const { hashes, packed } = await storedContents(store.files, place);
  const missing = [...ownBlobs(stored, version).keys()].filter((blob) => !hashes.has(blob));
  if (missing.length > 0) return { ...counts, version, status: "uploading", missing };
  try {
    await writePlaces(store.files, place, { manifest: stored, packed, builtOn });
    await commit(store, owner, { version, tree, hash, base: manifest.base_version });
  } catch (error) {
    await eraseIfGone(store, upload);
    throw error;
  }
  return { ...counts, version, status: "committed", missing };
}

function treeOf({ files }: ContextManifest): Tree {
  const builder = new TreeBuilder();
  for (const { path, sha256: hash, size, executable } of files)
    builder.add(path, toEntry(hash, size, executable ?? false));
  return builder.tree();
}

/** Charges an upload and stores its manifest, or returns the manifest that is already stored. */
async function storeManifest(
  { index, files }: ContextStore,
  upload: Owner & { version: string },
  builtOn: string | null,
  tree: Tree,
): Promise<StoredManifest> {
  const { tenant, name, version } = upload;
  const place = { tenant, version };
  const existingText = await files.manifest(place);
  if (existingText !== null) return decodeManifest(existingText);
  const manifest = manifestOf(tree, version, await manifestOfBase(files, place, builtOn));
  const text = encodeManifest(manifest);
  try {
    await charge(index, { tenant, name, id: version }, ownBytes(manifest, text, version));
  } catch (error) {
    if (error instanceof UploadRefusal)
      await abandon({ index, files }, { tenant, name, id: version });
    throw error;
  }
  return decodeManifest(await files.putManifest(place, text));
}

/** The manifest of an upload's base; `null` if it has none. */
const manifestOfBase = (
  files: ContextBlobs,
  { tenant }: VersionPlace,
  builtOn: string | null,
): Promise<StoredManifest | null> =>
  builtOn === null ? Promise.resolve(null) : readManifest(files, { tenant, version: builtOn });

/** The manifest of a version; `null` if missing. */
export async function readManifest(
  files: ContextBlobs,
  place: VersionPlace,
): Promise<StoredManifest | null> {
  const text = await files.manifest(place);
  return text === null ? null : decodeManifest(text);
}

type CommittedTree = { version: string; tree: Tree; hash: string; base: string | null | undefined };

async function commit(
  { index }: ContextStore,
  { tenant, name }: Owner,
  { version, tree, hash, base }: CommittedTree,
): Promise<void> {
  const counts = { files: tree.size, bytes: treeBytes(tree) };
  if (await index.commit({ tenant, name, id: version, treeHash: hash, ...counts, base })) return;
  // Another request may have committed the same upload.
  if ((await index.version(tenant, name, version)) !== null) return;
  requireBase(base, (await index.newest(tenant, name))?.id ?? null);
  throw new UploadRefusal(
    "upload_not_found",
    "This upload is no longer open: it expired, or its context was erased. Start the upload again.",
  );
}

function requireBase(base: string | null | undefined, newest: string | null): void {
  if (base === undefined || base === newest) return;
  const state = newest === null ? "it has no version any more" : `its newest version is ${newest}`;
  throw new UploadRefusal(
    "context_changed",
    `The context has changed meanwhile: ${state}. Fetch that version and apply your changes to it.`,
  );
}

/**
 * Stores a blob that the manifest of an open upload lists. `length`: the declared length of the
 * body; `null` if unknown. Safe to repeat. Throws `UploadRefusal`.
 */
export async function putBlob(
  store: ContextStore,
  upload: Owner & { version: string },
  blob: { hash: string; body: AsyncIterable<Uint8Array>; length: number | null },
): Promise<void> {
  const { place, expectedBlobs } = await openUpload(store, upload);
  const size = expectedBlobs.get(blob.hash);
  if (size === undefined) throw unexpectedBlob(blob.hash);
  if (blob.length !== null && blob.length !== size) throw mismatch(blob.hash);
  const bytes = await readExactly(blob.body, size);
  if (bytes === null || (await hashOf(bytes)) !== blob.hash) throw mismatch(blob.hash);
  await store.files.putBlob(place, blob.hash, bytes);
  await requireExistingUpload(store, upload);
}

/**
 * Like `putBlob`, for several blobs. The name of each archive entry is the hash of its blob. Calls
 * `open` after the upload was found. Returns the number of blobs.
 */
export async function putBlobs(
  store: ContextStore,
  upload: Owner & { version: string },
  open: () => AsyncIterable<ArchiveEntry>,
): Promise<number> {
  const { place, expectedBlobs } = await openUpload(store, upload);
  const { hashes } = await storedContents(store.files, place);
  const writer = new PackWriter(packStore(store.files, place), hashes);
  let stored = 0;
  for await (const entry of open()) {
    const hash = entry.name;
    if (entry.kind !== "file" || !expectedBlobs.has(hash)) throw unexpectedBlob(hash);
    if (entry.bytes.byteLength !== expectedBlobs.get(hash) || (await hashOf(entry.bytes)) !== hash)
      throw mismatch(hash);
    await writer.put(hash, entry.bytes);
    stored += 1;
  }
  await writer.end();
  await requireExistingUpload(store, upload);
  return stored;
}

/** Call it after each write. If the upload no longer exists, erases its files and throws. */
async function requireExistingUpload(
  store: ContextStore,
  upload: Owner & { version: string },
): Promise<void> {
  if (await eraseIfGone(store, upload)) throw noSuchUpload();
}

/** Erases the files of an upload that was removed during a write. Returns whether it was. */
async function eraseIfGone(
  { index, files }: ContextStore,
  upload: Owner & { version: string },
): Promise<boolean> {
  const { tenant, name, version } = upload;
  if (
    (await index.isOpen(tenant, name, version)) ||
    (await index.version(tenant, name, version)) !== null
  )
    return false;
  await files.erase({ tenant, version });
  return true;
}

async function openUpload(
  { index, files }: ContextStore,
  { tenant, name, version }: Owner & { version: string },
) {
  const place = { tenant, version };
  const stored = (await index.isOpen(tenant, name, version))
    ? await readManifest(files, place)
    : null;
  if (stored) return { place, expectedBlobs: ownBlobs(stored, version) };
  throw noSuchUpload();
}

const noSuchUpload = (): UploadRefusal =>
  new UploadRefusal(
    "upload_not_found",
    "There is no such open upload. Start it with the manifest. A committed version accepts no more contents.",
  );

const unexpectedBlob = (hash: string): UploadRefusal =>
  new UploadRefusal(
    "blob_mismatch",
    `The manifest has no blob ${hash.slice(0, 64)}. Send only the blobs listed as missing.`,
  );
const mismatch = (hash: string): UploadRefusal =>
  new UploadRefusal(
    "blob_mismatch",
    `The bytes sent for ${hash} do not match this hash. If the file changed meanwhile, start the upload again.`,
  );

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
  const { id: version, builtOn } = await store.index.begin({
    ...owner,
    id: store.newId(now),
    treeHash: null,
    createdAt: now,
  });
  const place = { tenant: owner.tenant, version };
  try {
    const files = chargedFiles(store.files, store.index, { ...owner, id: version });
    const uploaded = await storeArchive(
      { ...store, files },
      owner,
      { ...place, builtOn },
      open(place, files),
    );
    if (uploaded.version !== version) await abandon(store, { ...owner, id: version });
    return uploaded;
  } catch (error) {
    await abandon(store, { ...owner, id: version });
    throw error;
  }
}

async function storeArchive(
  store: ContextStore,
  owner: Owner,
  { builtOn, ...place }: VersionPlace & { builtOn: string | null },
  entries: AsyncIterable<ArchiveEntry>,
): Promise<UploadResult> {
  const newest = await store.index.newest(owner.tenant, owner.name);
  const older = await manifestOfBase(store.files, place, builtOn);
  const { tree, skipResult } = await storeEntries(store.files, place, placesOf(older), entries);
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
  await writePlaces(store.files, place, {
    manifest,
    packed: (await storedContents(store.files, place)).packed,
    builtOn,
  });
  await commit(store, owner, { version: place.version, tree, hash, base: undefined });
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

/** Abandons an upload and erases its files. If interrupted, `sweepUploads` erases them later. */
async function abandon(
  { index, files }: Pick<ContextStore, "index" | "files">,
  upload: Owner & { id: string },
): Promise<void> {
  await index.abandon(upload.tenant, upload.name, upload.id);
  if ((await index.version(upload.tenant, upload.name, upload.id)) !== null) return;
  await files.erase({ tenant: upload.tenant, version: upload.id });
  await index.forget(upload);
}

/** Erases a context with all versions and open uploads. Returns whether it existed. */
export async function eraseContext({ index, files }: ContextStore, owner: Owner): Promise<boolean> {
  const hadVersion = (await index.newest(owner.tenant, owner.name)) !== null;
  for (const id of await index.markErasing(owner.tenant, owner.name)) {
    await files.erase({ tenant: owner.tenant, version: id });
    await index.forget({ ...owner, id });
  }
  return hadVersion;
}

/** Maximum time for which an upload stays open. */
const MAX_OPEN_MS = 24 * 60 * 60 * 1_000;
const MAX_SWEPT_UPLOADS = 100;

/** Erases uploads that expired, and finishes interrupted erasures. Returns the number of both. */
export async function sweepUploads(
  { index, files }: Pick<ContextStore, "index" | "files">,
  now: number,
): Promise<number> {
  const rows = await index.unfinished(now - MAX_OPEN_MS, MAX_SWEPT_UPLOADS);
  for (const row of rows) {
    await files.erase({ tenant: row.tenant, version: row.id });
    await index.forget(row);
  }
  return rows.length;
}
