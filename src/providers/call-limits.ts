/** All limits of provider calls, each with its reason. */

/** Time limits of a call. */
export const CALL_TIME_LIMITS = {
  /** Limit until the first byte of the reply. A reasoning model may need 90 s. */
  firstByteMs: 120_000,
  /** Limit between two pieces of the reply. A healthy stream has no pause of this length. */
  idleMs: 90_000,
  /**
   * Limit for the whole call. Cloudflare keeps an object alive for at most 15 minutes per call
   * (documentation, autumn 2026). The difference is the time to store the result.
   */
  totalMs: 14 * 60_000,
} as const;

/**
 * Maximum wait for more data after the end marker of a reply. Usage and sources follow within
 * milliseconds. A server may leave the connection open. Without this limit, the call would then
 * wait until `idleMs` and fail, and its complete reply would be lost.
 */
export const LAST_WAIT_MS = 3_000;

/**
 * Wait for the end of a body after its reader has the whole reply; at most twice as long. The reply
 * does not wait. A server that keeps the connection open for longer loses it.
 */
export const END_WAIT_MS = 200;

/**
 * Maximum size of a reply on the wire. An isolate has 128 MB of memory (documentation, autumn
 * 2026). The longest real reply has about 40 MB: 128k output tokens, one per chunk, with 300 bytes
 * of JSON each.
 */
export const MAX_REPLY_BYTES = 64 * 1024 * 1024;
/**
 * Maximum size of one line of a reply. The longest line is the last: it repeats the whole reply,
 * including the pictures that code has drawn.
 */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/**
 * Maximum size of a reply that is one JSON text, from a server that ignores `stream`. Such a reply
 * is in memory as a whole.
 */
export const MAX_JSON_BYTES = 4 * 1024 * 1024;

/**
 * Maximum length of a decoded reply: the characters of text, reasoning, arguments and names
 * together. 128k output tokens are about 0.5 MB. The replies of all agents of a session are in
 * memory at the same time.
 */
export const MAX_REPLY_CHARS = 4 * 1024 * 1024;

/** Maximum number of bytes read from the body of an error. Real error bodies are far smaller. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** Maximum length of a provider's text in the message of a failure. */
export const MAX_MESSAGE_CHARS = 500;

/**
 * The longest delay that `setTimeout` accepts, as the timeout for the SDKs. The SDKs require a
 * timeout; the limits above apply instead.
 */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;

// Limits for stored uses and citations of hosted tools. Users can still see queries and sources.
// One use, or all citations of a reply, is far smaller than the largest row (2 MB).

/** Maximum number of stored uses per reply. */
export const MAX_HOSTED_USES = 64;
/** Maximum number of characters stored from the input of a use. */
export const MAX_HOSTED_INPUT_CHARS = 4_000;
/** Maximum number of characters stored from the output of a use. */
export const MAX_HOSTED_OUTPUT_CHARS = 16_000;
/** Maximum number of stored citations per reply. */
export const MAX_CITATIONS = 100;
/** Maximum length of the URL of a citation. */
export const MAX_CITATION_URL_CHARS = 2_000;
/** Maximum length of the title of a citation. */
export const MAX_CITATION_TITLE_CHARS = 300;
/** Maximum length of a cited text. */
export const MAX_CITATION_TEXT_CHARS = 500;

/**
 * Polling interval for a background reply that can no longer be streamed. The rate limits of all
 * providers allow it.
 */
export const BACKGROUND_POLL_MS = 5_000;

/**
 * Timeout of the request that cancels a background reply. No caller waits for this request, and it
 * must not keep a Durable Object alive.
 */
export const BACKGROUND_CANCEL_MS = 10_000;
