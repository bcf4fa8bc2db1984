/** A decimal megabyte in bytes. */
const MB = 1_000_000;

/**
 * Limits of one version of a context. The service enforces the limits; clients check them before an
 * upload.
 */
export const CONTEXT_LIMITS = {
  /** Size of all files of a version together. The same limit applies to the size of an upload. */
  bytes: 100 * MB,
  /** Number of files of a version. */
  files: 10_000,
  /** Size of one file. */
  fileBytes: 16 * MB,
  /** Compression ratio of an archive: the size of its contents divided by its own size. */
  ratio: 100,
} as const;

/**
 * Limits of a pack: blobs that a client sends together in one tar. `blobBytes`: size of one blob.
 * `bytes`: size of all blobs together.
 */
export const PACK_LIMITS = { blobBytes: 1 * MB, blobs: 500, bytes: 8 * MB } as const;
