/** Limits of contexts, for the service and its clients. Bytes are decimal megabytes, as people count them. */
const MB = 1_000_000;

/** What one version may hold, and how much larger than its upload it may be. The service refuses more; clients check before. */
export const CONTEXT_LIMITS = {
  bytes: 100 * MB,
  files: 10_000,
  fileBytes: 16 * MB,
  ratio: 100,
} as const;

/** Blobs sent together in one tar: the largest blob in bytes, the most blobs, the most bytes. */
export const PACK_LIMITS = { blobBytes: 1 * MB, blobs: 500, bytes: 8 * MB } as const;
