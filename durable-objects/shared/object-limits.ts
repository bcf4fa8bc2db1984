/** Limits of an agent's files. Sizes in bytes. */
export const FILES = {
  /** Larger contents are stored in R2, not in a row of the object. */
  rowBytes: 1_000_000,
  /** Maximum size of a file. */
  fileBytes: 16 * 1024 * 1024,
  /** Maximum number of files of an agent. */
  files: 5_000,
  /** Maximum size of all files of an agent together. */
  treeBytes: 128 * 1024 * 1024,
} as const;

/** Time limit for destroying a container before the next try. */
export const CONTAINER_LIMIT_MS = 30_000;

/** Size of the packs of snapshots in memory: one full pack, or several small ones. */
export const PACK_CACHE_BYTES = 16 * 1024 * 1024;

/** Limits of the cache for contents of contexts, in bytes: all together, and each file. */
export const CONTEXT_CACHE = { bytes: 16_000_000, fileBytes: 1_000_000 } as const;

/**
 * Objects that a search in contexts reads before it needs them: their number, and their size in
 * bytes together.
 */
export const READ_AHEAD = { objects: 4, bytes: 4_000_000 } as const;

/**
 * Maximum number of files in all contexts of a turn together. The trees of the contexts are in
 * memory while the turn runs.
 */
export const MOST_CONTEXT_FILES = 20_000;

/** Limits of storage, in bytes or UTF-16 code units. */
export const STORE = {
  /**
   * Maximum size of an event's row. Cloudflare limits a row to 2 MB (documentation, autumn 2026);
   * the local runtime accepts more.
   */
  eventRowBytes: 1_800_000,
  /** Size of a queued request without its attachments. Names of attachments need some more. */
  queuedRowBytes: 1_800_000,
  /**
   * Size after which collected text is written as a row. It is counted in characters, because text
   * is not encoded while it is collected; a character takes at most 6 bytes as escaped JSON.
   */
  deltaRowChars: 40_000,
  /** Maximum size of a chunk of a conversation or a manifest, in its own row. */
  callChunkChars: 300_000,
} as const;

/** Limits of event streams. Sizes in bytes, times in ms. */
export const STREAM = {
  /** Delay before a client reconnects, which each stream sends as `retry`. */
  retryMs: 2_000,
  /** Time without an event after which a stream gets a heartbeat. */
  heartbeatMs: 15_000,
  /** Interval of the check for readers that need a heartbeat or must be closed. */
  tickMs: 1_000,
  /** Size after which a page of events ends. */
  pageBytes: 256 * 1024,
  /** Number of chunks after which the next part of a reader's stream begins. */
  segmentChunks: 256,
  /** Size of the latest frames in memory, from which readers that are up to date are served. */
  tailBytes: 1024 * 1024,
  /** A reader with more unread bytes than this is disconnected. It can reconnect and resume. */
  behindBytes: 1024 * 1024,
  /** Longest time in which rows are collected for one write to all readers. */
  gatherMs: 100,
  /** Number of readers for which rows are collected 1 ms longer. */
  readersPerExtraMs: 10,
  /** A session's stream ends this long after its latest turn. */
  lingerMs: 300_000,
  /** Longest duration of a connection. */
  connectionMs: 14 * 60_000,
} as const;

/** Default for the maximum number of readers of one session; the operator may set another. */
export const DEFAULT_READERS = 2_000;

/** Interval at which the keys of open streams are checked. */
export const KEY_CHECK_MS = 30_000;

/**
 * Shortest interval between rows of streamed text, with and without readers. Without readers, rows
 * are written less often, because each row costs money. `firstMs`: before a row with the first text
 * of a call.
 */
export const FLUSH = { firstMs: 25, watchedMs: 250, unwatchedMs: 1_000 } as const;

/**
 * The relays of a session, and the maximum number of calls that wait for response headers at the
 * same time in each of them. The platform allows six such connections per object (edge, autumn
 * 2026). With these relays, all calls of the largest team can wait. For the session's own
 * connections, see `STORAGE_CONNECTIONS`.
 */
export const RELAYS = { count: 16, slots: 4 } as const;

/**
 * Memory for the bodies of requests that wait for response headers: 16 MiB. Smaller requests than
 * `unitBytes` do not count: at most 64 wait, with 16 MiB together.
 */
export const REQUEST_MEMORY = { units: 64, unitBytes: 256 * 1024 } as const;

/**
 * Number of storage operations that a session runs at the same time, on R2 or, for contexts, on D1.
 * The platform allows an object six connections that wait for response headers. Requests of calls
 * use the relays' connections. One connection is for the listings of tool servers
 * (`TOOL_SERVERS.own`), and one is free for writes that do not use the storage queue.
 */
export const STORAGE_CONNECTIONS = 4;

/** Time limit for reading or writing one object in R2. The largest object is a pack of 16 MB. */
export const BUCKET_LIMIT_MS = 60_000;

/**
 * Time limit for reading one attachment from R2. It is short, because calls of the session wait for
 * the attachment; an attachment has at most 3 MB.
 */
export const ATTACHMENT_READ_MS = 15_000;

/**
 * How long a call may wait for response headers while other calls wait for its slot. Streaming
 * endpoints send headers within seconds. Most endpoints that send headers together with the first
 * word need less than this time. Twice this time is less than the time limit of a provider (120 s).
 */
export const HEADER_LIMIT_MS = 45_000;

/**
 * Limits of requests that connect to tool servers and list their tools. `own`: slots for such
 * requests, which the session sends itself. `guests`: the number of free call slots that they may
 * also use. `restMs`: interval of the check whether connections are still needed; a connection
 * stays open for at most twice this time after the last turn.
 */
export const TOOL_SERVERS = { own: 1, guests: 2, restMs: 30_000 } as const;
