import type { ContextBlobs, VersionPlace } from "../../r2-layout/contexts";
import type { ContextManifest, SkippedEntry } from "../protocol/api/contexts";
import { hashOf } from "../workspace/snapshot";
import type { Tree } from "../workspace/types";
import { readExactly } from "./byte-queue";
import { commitUpload, requireBase, updateRecord } from "./commit-upload";
import type { ContextStore, Owner } from "./context-store";
import { abandon, eraseIfGone } from "./erase-uploads";
import {
  decodeManifest,
  encodeManifest,
  manifestOf,
  ownBlobs,
  type StoredManifest,
  toEntry,
  treeHash,
} from "./manifest-text";
import { PackWriter } from "./packs";
import type { ArchiveEntry } from "./read-tar";
import { UploadRefusal } from "./refusals";
import { charge, ownBytes } from "./storage-account";
import { manifestOfBase, readManifest } from "./stored-manifest";
import { combineLeftOut, combineRecords } from "./records";
import { isStored, packStore, storedContents } from "./stored-packs";
import { TreeBuilder, treeBytes } from "./tree-builder";

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
  const sent = { includes: manifest.includes ?? [], leftOut: manifest.left_out ?? [] };
  // refuses a record that is too large before anything is stored
  combineRecords([], sent.includes);
  combineLeftOut([], sent.leftOut, tree);
  const newest = await store.index.newest(owner.tenant, owner.name);
  const isUnchanged = newest !== null && newest.treeHash === hash;
  const isStale = manifest.base_version !== undefined && manifest.base_version !== newest?.id;
  const record = { ...sent, tree, isStale };
  if (isUnchanged && (await updateRecord(store, { ...owner, id: newest.id }, record)))
    return { ...counts, version: newest.id, status: "unchanged", missing: [] };
  requireBase(manifest.base_version, newest?.id ?? null);
  const { id: version, builtOn } = await store.index.begin({
    ...owner,
    id: store.newId(now, newest?.id ?? null),
    treeHash: hash,
    createdAt: now,
  });
  const place = { tenant: owner.tenant, version };
  const upload = { ...owner, version };
  const stored = await storeManifest(store, upload, builtOn, tree);
  await requireExistingUpload(store, upload);
  const contents = await storedContents(store.files, place);
  const missing = [...ownBlobs(stored, version).keys()].filter((blob) => !isStored(contents, blob));
  if (missing.length > 0) return { ...counts, version, status: "uploading", missing };
  const complete = { version, builtOn, manifest: stored, stored: contents };
  try {
    await commitUpload(store, owner, {
      ...complete,
      tree,
      hash,
      base: manifest.base_version,
      sent,
    });
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
  const { blobs, packed } = await storedContents(store.files, place);
  const writer = new PackWriter(packStore(store.files, place), [...blobs, ...packed.keys()]);
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

async function openUpload(
  { index, files, expected }: ContextStore,
  { tenant, name, version }: Owner & { version: string },
) {
  const place = { tenant, version };
  const isOpen = await index.isOpen(tenant, name, version);
  const expectedBlobs = isOpen && (await expected.of(place, () => readOwnBlobs(files, place)));
  if (expectedBlobs) return { place, expectedBlobs };
  throw noSuchUpload();
}

async function readOwnBlobs(files: ContextBlobs, place: VersionPlace) {
  const manifest = await readManifest(files, place);
  return manifest && ownBlobs(manifest, place.version);
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
