import { WORKFLOW_TOOLS } from "../../coordination/tool/offers";

/**
 * Limits of MCP servers. Sizes are in UTF-16 characters or bytes, as the name says; times in ms.
 */

/** Tools per server. The rest of a longer listing is ignored and reported. */
export const MAX_TOOLS = 10_000;
/** Functions per request: providers accept no more. */
const MAX_FUNCTIONS = 128;
/** Tools of an agent besides the coordination tools: its own first, then those of its servers. */
export const MAX_OFFERED = MAX_FUNCTIONS - WORKFLOW_TOOLS.length;
/**
 * Characters of all tool definitions of an agent's servers together. Hardly any context window
 * holds more.
 */
export const MAX_OFFERED_CHARS = 512 * 1024;
/** Characters of a tool description as models see it. */
export const MAX_DESCRIPTION_CHARS = 4_096;
/** Characters of a tool's schema as JSON. A tool with a larger schema is refused. */
export const MAX_SCHEMA_CHARS = 64 * 1024;
/** Bytes of a connection attempt, of a listing, and of a stream that the server opened. */
export const MAX_LISTING_BYTES = 16 * 1024 * 1024;
/** Size of a reply to a call. */
export const MAX_RESULT_BYTES = 25 * 1024 * 1024;
/** Files per result; their bytes are limited by the reply. */
export const MAX_FILES = 16;
/** Characters of a resource's text in a result. A longer text also becomes a file. */
export const MAX_EMBEDDED_CHARS = 20_000;
/** Characters of the reason why a tool is not offered. The reason may quote the schema. */
export const MAX_WHY_CHARS = 300;
/** Pages per listing. */
export const MAX_PAGES = 64;

/** Characters of the longest tool name that every provider accepts. */
export const MAX_NAME_CHARS = 64;
/** Characters of a progress message. */
export const MAX_PROGRESS_CHARS = 500;
/** Characters of an address that a person should open. A longer address is dropped, not cut. */
export const MAX_URL_CHARS = 2_000;
/** Characters of a server's error message. */
export const MAX_ERROR_CHARS = 2_000;

/** Longest call, regardless of progress and config: the platform keeps no longer call alive. */
export const LONGEST_CALL_MS = 840_000;
/** Longest wait for the headers of a stream that a server opens: it occupies a slot until then. */
export const STREAM_HEADERS_MS = 10_000;

/** Time limit for ending the session with a server. */
export const CLOSE_LIMIT_MS = 2_000;

/** Consecutive tries to resume a stream. */
export const RESUME_TRIES = 2;
/** First pause before a try to resume; later pauses double. */
export const RESUME_MS = 1_000;
/** Longest pause before a try to resume. */
export const LONGEST_RESUME_MS = 30_000;

/** Tries of a call that is safe to repeat. */
export const MAX_TRIES = 3;
/** First pause before a retry; later pauses double. */
export const RETRY_MS = 500;
