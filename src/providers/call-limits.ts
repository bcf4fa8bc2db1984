/** Every limit of provider calls, with its source. */

/**
 * Cloudflare keeps an object alive for at most 15 minutes per call (documentation, autumn 2026); 14
 * minutes leave time to store the result. The first byte of a reasoning model may take 90 s. A
 * healthy stream is never silent for 90 s.
 */
export const CALL_TIME_LIMITS = {
  firstByteMs: 120_000,
  idleMs: 90_000,
  totalMs: 14 * 60_000,
} as const;

/**
 * How long to wait for more data after the end marker of a reply. Usage and sources follow it
 * within milliseconds. Without this limit, a server that does not close the connection would hold
 * the reply until `idleMs`, and the reply would be lost.
 */
export const LAST_WAIT_MS = 3_000;

/**
 * Limits of one reply and of one line of it. An isolate has 128 MB (documentation, autumn 2026).
 * The longest real reply is about 40 MB on the wire: 128k output tokens, one per chunk, with 300
 * bytes of JSON each. The longest line is the final one. It repeats the whole reply, including
 * pictures that code has drawn.
 */
export const MAX_REPLY_BYTES = 64 * 1024 * 1024;
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/**
 * Limit of a reply that is one JSON text, from a server that ignores `stream`. All of it is in
 * memory at once.
 */
export const MAX_JSON_BYTES = 4 * 1024 * 1024;

/**
 * Limit of the decoded reply: text, reasoning, arguments and names together. 128k output tokens are
 * about 0.5 MB. The replies of all agents of a session are in memory at the same time.
 */
export const MAX_REPLY_CHARS = 4 * 1024 * 1024;

/** Bytes read of an error's body. Real error bodies are far smaller. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** Characters of a provider's text that a failure's message keeps. */
export const MAX_MESSAGE_CHARS = 500;

/**
 * The longest delay of `setTimeout` (2^31 - 1 ms). The SDK requires a timeout; the limits above
 * apply instead.
 */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;

/**
 * Limits of stored uses and citations of hosted tools. Enough for a person to see the queries and
 * sources. One use, or all citations of a reply, fit many times into a row (2 MB).
 */
export const MAX_HOSTED_USES = 64;
export const MAX_HOSTED_INPUT_CHARS = 4_000;
export const MAX_HOSTED_OUTPUT_CHARS = 16_000;
export const MAX_CITATIONS = 100;
export const MAX_CITATION_URL_CHARS = 2_000;
export const MAX_CITATION_TITLE_CHARS = 300;
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
