import type { ContextBlobs, Kept } from "../../r2-layout/contexts";
import type { Past, PruneIndex, Retired } from "./context-index";
import { readPlaces } from "./stored-packs";
import { readManifest } from "./uploads";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** How long a version can still be read after an upload that replaced it began, whoever holds it or not. */
export const KEPT_FOR_MS = 30 * DAY_MS;
/** How long whoever began to read a version before it was retired may go on. */
const READERS_MS = 60 * 60 * 1_000;
/** How many are retired, and how many cleared, at once. */
const AT_ONCE = 500;
/** From how many manifests it is worked out what of one retired version is needed. */
const MOST_WITNESSES = 50;

/**
 * Retires versions that nobody holds, and erases what no version that stands needs of those that were retired before: its row goes
 * after its files, so what breaks off is found again. Gives how many were looked at.
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
  version: Retired,
  now: number,
): Promise<void> {
  const { tenant, name, id } = version;
  const place = { tenant, version: id };
  const witnesses = witnessesOf(await index.history(tenant, name), id);
  const needed =
    witnesses.length > MOST_WITNESSES ? null : await contentsNeeded(files, place, witnesses);
  if (needed === null) return index.putOff(version, now);
  if (needed.blobs.size > 0) {
    return index.leaveRest(version, await files.eraseAllBut(place, needed));
  }
  await files.erase(place);
  await index.forget(version);
}

/** The contents of a retired version that these have too; null if one of these cannot be read. A pack is needed whole if any of it is. */
async function contentsNeeded(
  files: ContextBlobs,
  { tenant, version }: { tenant: string; version: string },
  witnesses: readonly string[],
): Promise<Kept | null> {
  const [blobs, packs] = [new Set<string>(), new Set<string>()];
  for (const witness of witnesses) {
    const manifest = await readManifest(files, { tenant, version: witness });
    if (manifest === null) return null;
    for (const { hash, from } of manifest.values()) if (from === version) blobs.add(hash);
    for (const { pack, from } of (await readPlaces(files, { tenant, version: witness })).values())
      if (from === version) packs.add(pack);
  }
  return { blobs, packs };
}

/**
 * The versions that stand and whose manifests together name all that any version that stands has of a retired one's contents. A
 * version has of older contents only what the one has that it was built on; so of a line it is the first that stands. Where a line
 * leads into the unknown, its first is asked too.
 */
export function witnessesOf(history: readonly Past[], retired: string): string[] {
  const byId = new Map(history.map((past) => [past.id, past]));
  const isAsked = ({ id, builtOn }: Past): boolean => {
    const seen = new Set([id]);
    for (
      let at = builtOn;
      at !== null && at !== retired && !seen.has(at);
      at = byId.get(at)?.builtOn ?? null
    ) {
      if (byId.get(at)?.stands) return false;
      seen.add(at);
    }
    return true;
  };
  return history.filter((past) => past.stands && isAsked(past)).map(({ id }) => id);
}
