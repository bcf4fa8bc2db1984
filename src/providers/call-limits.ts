/** Every limit of provider calls, with its source. */

/** Time limits of a call. */
export const CALL_TIME_LIMITS = {
  /** Until the first byte of the reply. A reasoning model may need 90 s. */
  firstByteMs: 120_000,
  /** Between two pieces of the reply. A healthy stream is never silent for so long. */
  idleMs: 90_000,
  /**
   * Whole call. Cloudflare keeps an object alive for at most 15 minutes per call (documentation,
   * autumn 2026); the rest is for storing the result.
   */
  totalMs: 14 * 60_000,
} as const;

/**
 * Longest wait for more data after the end marker of a reply. Usage and sources follow it
 * within milliseconds. Without this limit, a server that does not close the connection would hold
 * the reply until `idleMs`, and the reply would be lost.
 */
export const LAST_WAIT_MS = 3_000;

/**
 * Size of a reply on the wire. An isolate has 128 MB (documentation, autumn 2026). The longest real
 * reply has about 40 MB: 128k output tokens, one per chunk, with 300 bytes of JSON each.
 */
export const MAX_REPLY_BYTES = 64 * 1024 * 1024;
/**
 * Size of a line of a reply. The longest is the last line, which repeats the whole reply, including
 * pictures that code has drawn.
 */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/**
 * Size of a reply that is one JSON text, from a server that ignores `stream`. All of it is in
 * memory at once.
 */
export const MAX_JSON_BYTES = 4 * 1024 * 1024;

/**
 * Length of a decoded reply: text, reasoning, arguments and names together. 128k output tokens are
 * about 0.5 MB. The replies of all agents of a session are in memory at the same time.
 */
export const MAX_REPLY_CHARS = 4 * 1024 * 1024;

/** Bytes that are read of an error's body. Real error bodies are far smaller. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** Characters of a provider's text in the message of a failure. */
export const MAX_MESSAGE_CHARS = 500;

/**
 * Timeout of the SDKs, which require one: the longest delay of `setTimeout`. The limits above apply
 * instead.
 */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;

// Stored uses and citations of hosted tools: enough for a person to see the queries and sources.
// One use, or all citations of a reply, fit many times into a row (2 MB).

/** Uses of hosted tools that are stored of a reply. */
export const MAX_HOSTED_USES = 64;
/** Characters that are stored of the input of a use. */
export const MAX_HOSTED_INPUT_CHARS = 4_000;
/** Characters that are stored of the output of a use. */
export const MAX_HOSTED_OUTPUT_CHARS = 16_000;
/** Citations that are stored of a reply. */
export const MAX_CITATIONS = 100;
/** Characters of a citation's address. */
export const MAX_CITATION_URL_CHARS = 2_000;
/** Characters of a citation's title. */
export const MAX_CITATION_TITLE_CHARS = 300;
/** Characters of a cited text. */
export const MAX_CITATION_TEXT_CHARS = 500;

/**
 * Interval of polling for a background reply that can no longer be streamed. Rare enough for any
 * rate limit.
 */
export const BACKGROUND_POLL_MS = 5_000;

/**
 * Timeout of the request that cancels such a reply. No caller waits for it, and it must not keep an
 * object alive.
 */
export const BACKGROUND_CANCEL_MS = 10_000;
