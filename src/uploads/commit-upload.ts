import type { Contents } from "../../r2-layout/contexts";
import type { Includes, LeftOutFiles } from "../protocol/api/contexts";
import type { Tree } from "../workspace/types";
import type { VersionKey } from "./context-index";
import type { ContextStore, Owner } from "./context-store";
import { gather } from "./gather";
import { encodeManifest, type StoredManifest, toTree } from "./manifest-text";
import { decodePlaces, encodePlaces, packedPlacesOf, type Places } from "./packs";
import {
  combineLeftOut,
  combineRecords,
  decodeLeftOut,
  decodeRecord,
  encodeRecord,
  inheritedEntries,
  laterTurns,
} from "./records";
import { UploadRefusal } from "./refusals";
import { ownBytes } from "./storage-account";
import { readManifest } from "./stored-manifest";
import { NO_PLACES, readPlaces, type StoredContents } from "./stored-packs";
import { treeBytes } from "./tree-builder";

/**
 * An upload whose contents are all stored. `builtOn`: id of its base; `null` if it has none.
 * `base`: see `Commit` of the index.
 */
export type CompleteUpload = {
  version: string;
  builtOn: string | null;
  manifest: StoredManifest;
  stored: StoredContents;
  tree: Tree;
  hash: string;
  base: string | null | undefined;
  sent: SentRecord;
};

/** What a client sent for the record of a version. */
export type SentRecord = { includes: Includes; leftOut: LeftOutFiles };

/** Tries of a change of a record that other requests change at the same time. */
const MAX_TRIES = 5;

/**
 * Makes an upload the newest version. Before that, gathers small contents into packs and stores
 * where all packed contents are. After that, erases objects of the upload that are not needed any
 * more. Throws `UploadRefusal`.
 */
export async function commitUpload(
  store: ContextStore,
  owner: Owner,
  upload: CompleteUpload,
): Promise<void> {
  const unneeded = await placeContents(store, owner, upload);
  await commit(store, owner, upload);
  const place = { tenant: owner.tenant, version: upload.version };
  // The upload has succeeded. Objects that cannot be erased now are erased with the version.
  if (unneeded) await store.files.eraseContents(place, unneeded).catch(() => undefined);
}

/**
 * Stores where the packed contents of an upload are. If an earlier try has stored this, its text
 * stays. Returns the objects that are not needed; `null` if nothing is packed.
 */
async function placeContents(
  store: ContextStore,
  owner: Owner,
  { version, builtOn, manifest, stored }: CompleteUpload,
): Promise<Contents | null> {
  const { index, files } = store;
  const { tenant } = owner;
  const place = { tenant, version };
  const older =
    builtOn === null ? NO_PLACES : await readPlaces(files, { tenant, version: builtOn });
  const found = packedPlacesOf(manifest, version, stored.packed, older);
  const mayStore = async (bytes: number): Promise<boolean> => {
    if (bytes === 0) return true;
    const total = ownBytes(manifest, encodeManifest(manifest), version) + bytes;
    return (await index.charge({ ...owner, id: version }, total)).ok;
  };
  const places = (await gather(store, { ...place, manifest, places: found }, mayStore)) ?? found;
  if (places.size === 0) return null;
  const text = encodePlaces(places);
  const storedText = await files.putPlaces(place, text);
  const finalPlaces = storedText === text ? places : decodePlaces(storedText);
  const used = packsOf(finalPlaces, version);
  const written = stored.packs.union(packsOf(places, version));
  return {
    blobs: new Set([...stored.blobs].filter((hash) => finalPlaces.has(hash))),
    packs: written.difference(used),
  };
}

/** The version's own packs that have contents at these places. */
const packsOf = (places: Places, version: string): ReadonlySet<string> =>
  new Set([...places.values()].flatMap(({ from, pack }) => (from === version ? [pack] : [])));

async function commit(
  store: Pick<ContextStore, "index" | "records" | "files">,
  owner: Owner,
  upload: CompleteUpload,
): Promise<void> {
  const { index } = store;
  const { tenant, name } = owner;
  const { version, tree, hash, base, sent } = upload;
  const counts = { files: tree.size, bytes: treeBytes(tree) };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { record, isCurrent } = await recordOf(store, owner, upload);
    if (await index.commit({ tenant, name, id: version, treeHash: hash, ...counts, base, record }))
      return;
    // Another request may have committed the same upload.
    if ((await index.version(tenant, name, version)) !== null) {
      await updateRecord(store, { tenant, name, id: version }, { ...sent, tree, isStale: false });
      return;
    }
    const newest = (await index.newest(tenant, name))?.id ?? null;
    requireBase(base, newest);
    if (newest !== null && newest > version) throw begunEarlier(newest);
    if (await isCurrent()) break;
  }
  throw new UploadRefusal(
    "upload_not_found",
    "This upload is no longer open: it expired, or its context was erased. Start the upload again.",
  );
}

/**
 * The record of a new version: the entries of its base, and those of the request. `isCurrent`:
 * whether the base still has the record from which it was computed.
 */
async function recordOf(
  { records, files }: Pick<ContextStore, "records" | "files">,
  { tenant, name }: Owner,
  { base, sent, tree }: CompleteUpload,
) {
  const read = async () =>
    typeof base === "string" ? records.read({ tenant, name, id: base }) : null;
  const inherited = await read();
  const entries = decodeRecord(inherited);
  const leftOut = decodeLeftOut(inherited);
  // The files of the base are read only if an entry names left-out files.
  const readsBase = typeof base === "string" && entries.some((entry) => entry.left_out?.length);
  const manifest = readsBase ? await readManifest(files, { tenant, version: base }) : null;
  const kept = manifest
    ? inheritedEntries(entries, { tree, base: toTree(manifest), leftOut })
    : entries;
  const text = combined({ entries: kept, leftOut }, { ...sent, tree });
  return {
    record: text === null ? null : { text, inherited },
    isCurrent: async () => (await read()) === inherited,
  };
}

type StoredRecord = { entries: Includes; leftOut: LeftOutFiles };

/** The text of a record with what a client sent. `tree`: the files of the version. */
const combined = (before: StoredRecord, { includes, leftOut, tree }: SentRecord & { tree: Tree }) =>
  encodeRecord(
    combineRecords(before.entries, includes),
    combineLeftOut(before.leftOut, leftOut, tree),
  );

/**
 * Adds entries to the record of the newest version. `isStale`: they were made on an older version.
 * Returns `false` if the version is not the newest any more. Throws `UploadRefusal`.
 */
export async function updateRecord(
  { records }: Pick<ContextStore, "records">,
  version: VersionKey,
  { isStale, ...sent }: SentRecord & { tree: Tree; isStale: boolean },
): Promise<boolean> {
  if (sent.includes.length + sent.leftOut.length === 0) return true;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const before = await records.read(version);
    const entries = decodeRecord(before);
    const includes = isStale ? laterTurns(entries, sent.includes) : sent.includes;
    const after = combined({ entries, leftOut: decodeLeftOut(before) }, { ...sent, includes });
    if (after === null || after === before) return true;
    if (await records.replace(version, { before, after })) return true;
  }
  return false;
}

/**
 * Ids of versions sort in the order of the versions, so an upload with an older id needs a new one.
 */
const begunEarlier = (newest: string): UploadRefusal =>
  new UploadRefusal(
    "context_changed",
    `Version ${newest} was begun later than this upload, and is stored already. Send the upload again, if it is to replace that version.`,
  );

/** Throws `UploadRefusal` if the newest version is not the expected one. */
export function requireBase(base: string | null | undefined, newest: string | null): void {
  if (base === undefined || base === newest) return;
  const state = newest === null ? "it has no version any more" : `its newest version is ${newest}`;
  throw new UploadRefusal(
    "context_changed",
    `The context has changed meanwhile: ${state}. Fetch that version and apply your changes to it.`,
  );
}
