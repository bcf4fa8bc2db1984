/** What an agent's files may come to, and what of them fits into a row. Sizes in bytes. */
export const FILES = {
  rowBytes: 1_000_000,
  fileBytes: 16 * 1024 * 1024,
  files: 5_000,
  treeBytes: 128 * 1024 * 1024,
} as const;

/** How long a container may take to be destroyed before that is tried anew. */
export const CONTAINER_PATIENCE_MS = 30_000;

/** Contents of contexts kept in memory, and the largest of them. Bytes. */
export const CONTEXT_CACHE = { bytes: 16_000_000, fileBytes: 1_000_000 } as const;

/** Files of all contexts of a turn together: their trees lie in memory while it runs. */
export const MOST_CONTEXT_FILES = 20_000;

/** Limits of the platform and of what one session may hold. Sizes in bytes, times in ms. */
export const STORE = {
  /** A row is at most 2 MB on the edge (Cloudflare's documentation, autumn 2026); locally more would pass. */
  eventRowBytes: 1_800_000,
  /** Kept in characters while it fills: at most 3 bytes each as UTF-8, twice that when escaped. */
  deltaRowChars: 40_000,
  callChunkChars: 300_000,
} as const;

export const STREAM = {
  retryMs: 2_000,
  heartbeatMs: 15_000,
  /** How often silence is looked for. */
  tickMs: 1_000,
  pageBytes: 256 * 1024,
  /** Latest frames kept in memory, so that live readers cost no query. */
  tailBytes: 1024 * 1024,
  /** A reader further behind is closed; it can resume. */
  behindBytes: 1024 * 1024,
  /** For how long events are gathered into one write, at most, and how many readers make it a millisecond longer. */
  gatherMs: 100,
  readersPerGatherMs: 10,
  /** How long a session's stream stays open after a turn, and how long any connection lasts. */
  lingerMs: 300_000,
  connectionMs: 14 * 60_000,
} as const;

/** Readers of one session, unless the operator says otherwise. */
export const DEFAULT_READERS = 2_000;

/** How often the keys of open streams are looked at: a stream outlives its key by less than a minute. */
export const KEY_CHECK_MS = 30_000;

/** While someone watches deltas are written at most this often; otherwise rarely, because each row costs. */
export const FLUSH = { watchedMs: 250, unwatchedMs: 1_000 } as const;

/**
 * Calls that wait for response headers at a time; the platform allows six per invocation (edge, autumn 2026). R2 takes one, tool servers
 * that are asked for anything but a call the last.
 */
export const CALL_SLOTS = 4;

/** How long R2 may take for one object: the largest is a pack of 16 MB. */
export const BUCKET_LIMIT_MS = 60_000;

/** How long R2 may take for one thing that came with a question, 3 MB at most: calls of the session wait for it. */
export const ATTACHMENT_READ_MS = 15_000;

/**
 * How long a call may wait for headers while others wait for its slot. Endpoints that stream send them within seconds; even
 * those that begin only with the first word have mostly done so by then. Twice this fits into a provider's own limit (120 s).
 */
export const HEADER_PATIENCE_MS = 45_000;

/**
 * Tool servers that are being connected or listed. `own`: such requests that wait for headers at a time beside `CALL_SLOTS`; `guests`: how
 * many more may wait in call slots that are free. `restMs`: for how long connections outlive the work, at most twice.
 */
export const TOOL_SERVERS = { own: 1, guests: 2, restMs: 30_000 } as const;
