import type { ContextBlobs, KeptContents } from "../../r2-layout/contexts";
import type { PastVersion, PruneIndex, RetiredVersion } from "./context-index";
import { readPlaces } from "./stored-packs";
import { readManifest } from "./uploads";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** How long a replaced version stays readable after the upload that replaced it started. */
export const KEPT_FOR_MS = 30 * DAY_MS;
/** How long readers that started before the retirement may continue. */
const READERS_MS = 60 * 60 * 1_000;
/** Versions retired, and versions cleared, per run. */
const AT_ONCE = 500;
/** Manifests read to determine the needed contents of a retired version. */
const MOST_REFERRERS = 50;

/**
 * Retires unused versions, and erases contents of earlier retired versions that no readable version
 * needs. The row is removed after the files, so an interruption is resumed later. Returns the
 * number of versions examined.
 */
export async function pruneVersions(
  store: { index: PruneIndex; files: ContextBlobs },
  now: number,
): Promise<number> {
  const { index } = store;
  await index.retire({ before: now - KEPT_FOR_MS, now }, AT_ONCE);
  const due = await index.retired(now - READERS_MS, AT_ONCE);
  for (const version of due) await clear(store, version, now);
  return due.length;
}

async function clear(
  { index, files }: { index: PruneIndex; files: ContextBlobs },
  version: RetiredVersion,
  now: number,
): Promise<void> {
  const { tenant, name, id } = version;
  const place = { tenant, version: id };
  const referrers = referrersOf(await index.history(tenant, name), id);
  const needed =
    referrers.length > MOST_REFERRERS ? null : await contentsNeeded(files, place, referrers);
  if (needed === null) return index.putOff(version, now);
  if (needed.blobs.size > 0) {
    return index.leaveRest(version, await files.eraseAllBut(place, needed));
  }
  await files.erase(place);
  await index.forget(version);
}

/**
 * The contents of a retired version that these versions need; `null` if one cannot be read. A pack
 * is needed completely if any part is.
 */
async function contentsNeeded(
  files: ContextBlobs,
  { tenant, version }: { tenant: string; version: string },
  referrers: readonly string[],
): Promise<KeptContents | null> {
  const [blobs, packs] = [new Set<string>(), new Set<string>()];
  for (const referrer of referrers) {
    const manifest = await readManifest(files, { tenant, version: referrer });
    if (manifest === null) return null;
    for (const { hash, from } of manifest.values()) if (from === version) blobs.add(hash);
    for (const { pack, from } of (await readPlaces(files, { tenant, version: referrer })).values())
      if (from === version) packs.add(pack);
  }
  return { blobs, packs };
}

/**
 * The versions whose manifests together list all contents of a retired version that any readable
 * version needs. A version inherits contents only from its base, so of each line the first readable
 * version suffices. If a line starts at an unknown version, its first one is included.
 */
export function referrersOf(history: readonly PastVersion[], retired: string): string[] {
  const byId = new Map(history.map((past) => [past.id, past]));
  const isAsked = ({ id, builtOn }: PastVersion): boolean => {
    const seen = new Set([id]);
    for (
      let at = builtOn;
      at !== null && at !== retired && !seen.has(at);
      at = byId.get(at)?.builtOn ?? null
    ) {
      if (byId.get(at)?.isReadable) return false;
      seen.add(at);
    }
    return true;
  };
  return history.filter((past) => past.isReadable && isAsked(past)).map(({ id }) => id);
}
