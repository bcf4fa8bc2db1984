import type { Attachment } from "../src/protocol/attachments";
import { DEFAULT_STORED_BYTES, parseLimit, type StorageUse } from "../src/tenancy/quota";
import type { Env } from "../src/env";
import { nullIfNoTable } from "./no-table";

type StorageEnv = Pick<Env, "DB" | "TENANT_STORED_BYTES">;

/**
 * The limit in bytes for tenants without their own limit; `null` means no limit. A malformed
 * variable also gives `null` here: the Worker reports it before it serves any request.
 */
export function defaultStoredBytes({
  TENANT_STORED_BYTES,
}: Pick<Env, "TENANT_STORED_BYTES">): number | null {
  try {
    return parseLimit(TENANT_STORED_BYTES?.trim() ? TENANT_STORED_BYTES : DEFAULT_STORED_BYTES);
  } catch {
    return null;
  }
}

/**
 * Bytes that a tenant stores, and its limit. Both are read from one row each; objects in R2 are
 * never listed.
 */
export async function storageOf(env: StorageEnv, tenant: string): Promise<StorageUse> {
  const sql =
    "SELECT (SELECT bytes FROM stored_bytes WHERE tenant = ?1) AS stored, (SELECT stored_bytes FROM tenants WHERE id = ?1) AS own";
  const row = await nullIfNoTable(
    env.DB.prepare(sql).bind(tenant).first<{ stored: number | null; own: number | null }>(),
  );
  const limitBytes = row?.own == null ? defaultStoredBytes(env) : parseLimit(String(row.own));
  return { storedBytes: row?.stored ?? 0, limitBytes };
}

/** Records the bytes that a session stores. No effect if the session has no row. */
export async function reportStored(
  env: Pick<Env, "DB">,
  session: { tenant: string; session: string },
  bytes: number,
): Promise<void> {
  const sql = "UPDATE sessions SET stored_bytes = ? WHERE tenant = ? AND id = ?";
  await nullIfNoTable(env.DB.prepare(sql).bind(bytes, session.tenant, session.session).run());
}

/**
 * The bytes that a session stores: its database, its objects in R2 and its attachments. Read from
 * its own tables only.
 */
export function storedBySession(sql: SqlStorage): number {
  const [{ bytes } = { bytes: 0 }] = sql.exec<{ bytes: number }>(
    "SELECT coalesce(sum(bytes), 0) AS bytes FROM stored_objects",
  );
  const attachmentSizes = new Map<string, number>();
  for (const { body } of sql.exec<{ body: string }>(
    "SELECT body FROM events WHERE seq IN (SELECT first_seq FROM turns)",
  )) {
    const { attachments = [] }: { attachments?: readonly Attachment[] } = JSON.parse(body);
    for (const { sha256, size } of attachments) attachmentSizes.set(sha256, size);
  }
  // Attachments of queued requests are stored with each request.
  let queuedBytes = 0;
  for (const { body } of sql.exec<{ body: string }>("SELECT body FROM queue")) {
    const { attachments = [] }: { attachments?: readonly { attachment?: Attachment }[] } =
      JSON.parse(body);
    for (const { attachment } of attachments) queuedBytes += attachment?.size ?? 0;
  }
  const attachmentBytes = [...attachmentSizes.values()].reduce((sum, size) => sum + size, 0);
  return sql.databaseSize + bytes + attachmentBytes + queuedBytes;
}
