import type { Contents, ContextBlobs } from "../../r2-layout/contexts";
import type { PastVersion, PruneIndex, RetiredVersion } from "./context-index";
import { readManifest } from "./stored-manifest";
import { readPlaces } from "./stored-packs";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** How long a replaced version stays readable after the upload that replaced it started. */
export const READABLE_FOR_MS = 30 * DAY_MS;
/** A reader may have opened a version before its retirement. Such a reader may continue so long. */
const MAX_READER_MS = 60 * 60 * 1_000;
/** Maximum number of versions that one run retires, and that one run examines. */
const MAX_VERSIONS = 500;
/** Maximum number of manifests that are read to find the needed contents of a retired version. */
const MAX_REFERRERS = 50;

/**
 * Retires unused versions. Then examines versions that were retired earlier, and erases the
 * contents that no readable version needs. The row of a version is removed after its files, so that
 * the next run can resume an interrupted run. Returns the number of examined versions.
 */
export async function pruneVersions(
  store: { index: PruneIndex; files: ContextBlobs },
  now: number,
): Promise<number> {
  const { index } = store;
  await index.retire({ before: now - READABLE_FOR_MS, now }, MAX_VERSIONS);
  const due = await index.retired(now - MAX_READER_MS, MAX_VERSIONS);
  for (const version of due) await eraseUnneeded(store, version, now);
  return due.length;
}

async function eraseUnneeded(
  { index, files }: { index: PruneIndex; files: ContextBlobs },
  version: RetiredVersion,
  now: number,
): Promise<void> {
  const { tenant, name, id } = version;
  const place = { tenant, version: id };
  const referrers = referrersOf(await index.history(tenant, name), id);
  const needed =
    referrers.length > MAX_REFERRERS ? null : await contentsNeeded(files, place, referrers);
  if (needed === null) return index.putOff(version, now);
  if (needed.blobs.size > 0 || needed.packs.size > 0) {
    return index.leaveRest(version, await files.eraseAllBut(place, needed));
  }
  await files.erase(place);
  await index.forget(version);
}

/**
 * The contents of a retired version that the versions in `referrers` need; `null` if a manifest is
 * missing. If one part of a pack is needed, the whole pack is needed.
 */
async function contentsNeeded(
  files: ContextBlobs,
  { tenant, version }: { tenant: string; version: string },
  referrers: readonly string[],
): Promise<Contents | null> {
  const [blobs, packs] = [new Set<string>(), new Set<string>()];
  for (const referrer of referrers) {
    const manifest = await readManifest(files, { tenant, version: referrer });
    if (manifest === null) return null;
    const places = await readPlaces(files, { tenant, version: referrer });
    for (const { hash, from } of manifest.values())
      if (from === version && !places.has(hash)) blobs.add(hash);
    for (const { pack, from } of places.values()) if (from === version) packs.add(pack);
  }
  return { blobs, packs };
}

/**
 * The readable versions whose manifests together list all contents of the retired version that are
 * still needed.
 *
 * A version can share contents only with its base. So from each readable version, the function
 * follows the bases. If it finds another readable version before the retired version, that version
 * lists all shared contents, and the first version is not included. A version is included if its
 * chain of bases ends at an unknown version.
 */
export function referrersOf(history: readonly PastVersion[], retired: string): string[] {
  const byId = new Map(history.map((past) => [past.id, past]));
  const isNeeded = ({ id, builtOn }: PastVersion): boolean => {
    const visited = new Set([id]);
    for (
      let base = builtOn;
      base !== null && base !== retired && !visited.has(base);
      base = byId.get(base)?.builtOn ?? null
    ) {
      if (byId.get(base)?.isReadable) return false;
      visited.add(base);
    }
    return true;
  };
  return history.filter((past) => past.isReadable && isNeeded(past)).map(({ id }) => id);
}
