import type { Bucket } from "./bucket";

/** What R2 lists, and deletes, at once. */
const MOST_AT_ONCE = 1_000;

/** Everything of a session lies below this. Tenants and sessions have ids without slashes. */
export const sessionPrefix = (tenant: string, session: string): string => `tenants/${tenant}/sessions/${session}/`;

/** The contents of a file, by their SHA-256: written once and never again. */
export const blobKey = (tenant: string, session: string, sha256: string): string =>
  `${sessionPrefix(tenant, session)}blobs/${sha256}`;

/** Erases every file of a session. Broken off in the middle, it is finished by doing it again. */
export async function eraseSessionFiles(bucket: Bucket, tenant: string, session: string, atOnce = MOST_AT_ONCE): Promise<void> {
  const prefix = sessionPrefix(tenant, session);
  for (;;) {
    const { objects, truncated } = await bucket.list({ prefix, limit: atOnce });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (!truncated) return;
  }
}
