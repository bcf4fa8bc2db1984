import type { ContextStore, Owner } from "./context-store";

/** Erases the files of an upload that was removed during a write. Returns whether it was. */
export async function eraseIfGone(
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

/** Abandons an upload and erases its files. If interrupted, `sweepUploads` erases them later. */
export async function abandon(
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
