/** Limits of an agent's files. Sizes in bytes. */
export const FILES = {
  /** Larger contents are stored in R2, not in a row of the object. */
  rowBytes: 1_000_000,
  /** Size of a file. */
  fileBytes: 16 * 1024 * 1024,
  /** Files of an agent. */
  files: 5_000,
  /** Size of all files of an agent together. */
  treeBytes: 128 * 1024 * 1024,
} as const;

/** Time limit for destroying a container before the next try. */
export const CONTAINER_LIMIT_MS = 30_000;

/** Contents of contexts cached in memory, and the largest of them. Bytes. */
export const CONTEXT_CACHE = { bytes: 16_000_000, fileBytes: 1_000_000 } as const;

/** Files of all contexts of a turn together: their trees are in memory while it runs. */
export const MOST_CONTEXT_FILES = 20_000;

/** Limits of storage. Sizes in bytes or characters. */
export const STORE = {
  /**
   * A row is at most 2 MB on the edge (Cloudflare's documentation, autumn 2026); locally more would
   * pass.
   */
  eventRowBytes: 1_800_000,
  /**
   * In characters, counted while text is collected: each takes at most 3 bytes as UTF-8, or twice
   * that when escaped.
   */
  deltaRowChars: 40_000,
  callChunkChars: 300_000,
} as const;

/** Limits of event streams. Sizes in bytes, times in ms. */
export const STREAM = {
  /** Delay before a client reconnects, which each stream sends as `retry`. */
  retryMs: 2_000,
  /** A stream without an event for this long gets a heartbeat. */
  heartbeatMs: 15_000,
  /** Interval of the check for idle readers. */
  tickMs: 1_000,
  /** Size after which a page of events ends. */
  pageBytes: 256 * 1024,
  /** Latest frames kept in memory, so that live readers need no query. */
  tailBytes: 1024 * 1024,
  /** A reader with more unread bytes is disconnected; it can resume. */
  behindBytes: 1024 * 1024,
  /** Longest time in which rows are collected for one write to all readers. */
  gatherMs: 100,
  /** Readers that add one ms to that time. */
  readersPerExtraMs: 10,
  /** A session's stream ends this long after its latest turn. */
  lingerMs: 300_000,
  /** Longest duration of a connection. */
  connectionMs: 14 * 60_000,
} as const;

/** Readers of one session, unless the operator sets another number. */
export const DEFAULT_READERS = 2_000;

/** Interval of the check of the keys of open streams, so that a stream soon ends after its key. */
export const KEY_CHECK_MS = 30_000;

/**
 * Interval of writing deltas, with and without readers. Without readers they are rare, because each
 * row costs.
 */
export const FLUSH = { watchedMs: 250, unwatchedMs: 1_000 } as const;

/**
 * Calls that wait for response headers at a time. The platform allows six connections per
 * invocation (edge, autumn 2026): R2 uses one, and listings of tool servers use the last.
 */
export const CALL_SLOTS = 4;

/** Time limit of R2 for one object: the largest is a pack of 16 MB. */
export const BUCKET_LIMIT_MS = 60_000;

/** Time limit of R2 for one attachment, at most 3 MB: calls of the session wait for it. */
export const ATTACHMENT_READ_MS = 15_000;

/**
 * How long a call may wait for headers while others wait for its slot. Streaming endpoints send
 * them within seconds. Most endpoints that send them with the first word have done so by then.
 * Twice this time fits into a provider's own limit (120 s).
 */
export const HEADER_LIMIT_MS = 45_000;

/**
 * Connecting to tool servers, and listing their tools. `own`: such requests that wait for headers
 * besides `CALL_SLOTS`. `guests`: how many more may use free call slots. `restMs`: how long
 * connections stay open after the work, at most twice.
 */
export const TOOL_SERVERS = { own: 1, guests: 2, restMs: 30_000 } as const;
