/** Limits of contexts, for the service and its clients. In decimal megabytes. */
const MB = 1_000_000;

/**
 * Limits of one version of a context. The service enforces the limits; clients check them before an
 * upload.
 */
export const CONTEXT_LIMITS = {
  /** Size of all files of a version together. Also the size of an upload. */
  bytes: 100 * MB,
  /** Files of a version. */
  files: 10_000,
  /** Size of a file. */
  fileBytes: 16 * MB,
  /** Size of the contents of an archive, divided by the size of the archive. */
  ratio: 100,
} as const;

/** Limits of blobs that a client sends together in one tar. */
export const PACK_LIMITS = { blobBytes: 1 * MB, blobs: 500, bytes: 8 * MB } as const;
