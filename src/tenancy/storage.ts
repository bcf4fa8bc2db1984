/** What a tenant may store. Pure: what it stores comes in. */

/** Bytes that a tenant stores where the deployment sets no limit: 10 GB. */
export const DEFAULT_STORED_BYTES = "10000000000";

/** `limitBytes` null: no limit. */
export type StorageUse = { storedBytes: number; limitBytes: number | null };
export type StorageRefusal = { ok: false; code: "storage_exceeded" } & {
  storedBytes: number;
  limitBytes: number;
};

/** Why the tenant may not store so many bytes more; null if it may. Nothing more goes into a storage that is full. */
export function judgeStorage(
  { storedBytes, limitBytes }: StorageUse,
  moreBytes: number,
): StorageRefusal | null {
  if (limitBytes === null) return null;
  if (storedBytes < limitBytes && storedBytes + moreBytes <= limitBytes) return null;
  return { ok: false, code: "storage_exceeded", storedBytes, limitBytes };
}
