/** Limits of contexts, for the service and its clients. In decimal megabytes. */
const MB = 1_000_000;

/**
 * Limits of one version. `ratio`: maximum size of the contents divided by the size of the upload.
 * The service enforces the limits; clients check them before an upload.
 */
export const CONTEXT_LIMITS = {
  bytes: 100 * MB,
  files: 10_000,
  fileBytes: 16 * MB,
  ratio: 100,
} as const;

/** Limits of blobs that a client sends together in one tar. */
export const PACK_LIMITS = { blobBytes: 1 * MB, blobs: 500, bytes: 8 * MB } as const;
