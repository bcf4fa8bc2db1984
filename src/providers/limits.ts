/** Every number the provider calls depend on, with where it comes from. */

/**
 * Cloudflare protects one call of an object for at most 15 minutes (documentation, autumn 2026); 14 leaves room to settle.
 * The first byte of a reasoning model may take a minute and a half; a healthy stream is never silent for as long as 90 s.
 */
export const CALL_TIME_LIMITS = {
  firstByteMs: 120_000,
  idleMs: 90_000,
  totalMs: 14 * 60_000,
} as const;

/**
 * How long a reply whose end was said is waited for to go on. Usage and sources follow the end within milliseconds; a server that
 * forgets to close would else be waited for until `idleMs`, and its reply lost.
 */
export const LAST_WAIT_MS = 3_000;

/**
 * Most bytes of one reply, and of one of its lines. An isolate has 128 MB for all it does (documentation, autumn 2026); the
 * longest honest reply, 128k output tokens in chunks of one token with 300 bytes of JSON around each, is about 40 MB on the
 * wire. Its largest line is the one that ends it and holds all of it once more, where code drew them with a picture or two.
 */
export const MAX_REPLY_BYTES = 64 * 1024 * 1024;
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** Most bytes of a reply that comes as one JSON text, from a server that ignores `stream`: all of it is in memory at once. */
export const MAX_JSON_BYTES = 4 * 1024 * 1024;

/**
 * Most characters of one reply, decoded: text, reasoning, arguments and names together. 128k output tokens are about 0.5 MB;
 * a session's agents hold their replies in memory side by side.
 */
export const MAX_REPLY_CHARS = 4 * 1024 * 1024;

/** Most bytes read of an error's body; what a provider has to say fits in far less. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** Most characters of a provider's words kept in a failure's message. */
export const MAX_MESSAGE_CHARS = 500;

/** The longest delay of `setTimeout` (2^31 - 1 ms): the SDK wants a number; the limits above are what counts. */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;

/**
 * What is kept of hosted tools and citations: enough for a person to see what was asked and found. One use, and all citations
 * of a reply, fit many times into a row (2 MB).
 */
export const MAX_HOSTED_USES = 64;
export const MAX_HOSTED_INPUT_CHARS = 4_000;
export const MAX_HOSTED_OUTPUT_CHARS = 16_000;
export const MAX_CITATIONS = 100;
export const MAX_CITATION_URL_CHARS = 2_000;
export const MAX_CITATION_TITLE_CHARS = 300;
export const MAX_CITATION_TEXT_CHARS = 500;

/** How often a reply that can no longer be streamed, only read whole, is asked for: seldom enough for any rate limit. */
export const BACKGROUND_POLL_MS = 5_000;

/** How long the request to stop writing such a reply may take; nobody waits for it, and it must not keep an object alive. */
export const BACKGROUND_CANCEL_MS = 10_000;
