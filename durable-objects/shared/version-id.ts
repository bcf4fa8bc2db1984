import { decodeTime, ulid } from "ulid";

/**
 * A unique id of a new version. Ids of versions sort in the order of the versions, also if the
 * clock of this machine is behind that of the machine which made the newest version. `now`: Unix
 * ms. `newest`: id of the newest version; `null` if there is none.
 */
export function newVersionId(now: number, newest: string | null): string {
  const id = ulid(now).toLowerCase();
  if (newest === null || id > newest) return id;
  return ulid(decodeTime(newest.toUpperCase()) + 1).toLowerCase();
}
