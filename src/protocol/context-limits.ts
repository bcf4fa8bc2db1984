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

/**
 * Limits of the record of a version. `entries`: sessions; the oldest entries are dropped. `paths`:
 * paths of each list of an entry. `bytes`: all entries as JSON in UTF-8. `leftOutBytes`: the
 * left-out files of the version as JSON in UTF-8.
 */
export const RECORD_LIMITS = {
  entries: 100,
  paths: 5_000,
  bytes: 256 * 1024,
  leftOutBytes: 512 * 1024,
} as const;

/** Contexts that a request may grant. */
export const MAX_GRANTED_CONTEXTS = 16;

/** Conflicts that one refusal lists. */
export const MAX_LISTED_CONFLICTS = 1_000;
