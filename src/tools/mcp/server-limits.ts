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
 * All tool definitions of an agent's servers together; hardly any model's context window holds
 * more.
 */
export const MAX_OFFERED_CHARS = 512 * 1024;
/** A tool description as models see it. */
export const MAX_DESCRIPTION_CHARS = 4_096;
/** A tool's schema as JSON. It cannot be cut, so a tool with a larger one is refused. */
export const MAX_SCHEMA_CHARS = 64 * 1024;
/** Bytes for connecting, for one listing, and for the total of a stream that the server opened. */
export const MAX_LISTING_BYTES = 16 * 1024 * 1024;
/** One reply to a call. */
export const MAX_RESULT_BYTES = 25 * 1024 * 1024;
/** Files per result; their bytes are limited by the reply. */
export const MAX_FILES = 16;
/** Text of a resource within the result. A longer one also becomes a file. */
export const MAX_EMBEDDED_CHARS = 20_000;
/** Reason why a tool is not offered; may quote its schema. */
export const MAX_WHY_CHARS = 300;
/** Pages per listing. */
export const MAX_PAGES = 64;

/** Longest name that every provider accepts. */
export const MAX_NAME_CHARS = 64;
/** A progress message. */
export const MAX_PROGRESS_CHARS = 500;
/** An address for a person to open. Not cut, because a cut one would lead elsewhere. */
export const MAX_URL_CHARS = 2_000;
/** A server's error message. */
export const MAX_ERROR_CHARS = 2_000;

/** Limit of a call regardless of progress and config: the platform keeps no longer call alive. */
export const LONGEST_CALL_MS = 840_000;
/** Until response headers. A stream opened by a server occupies one of few slots until then. */
export const STREAM_HEADERS_MS = 10_000;

/** For ending the session with a server. */
export const CLOSE_LIMIT_MS = 2_000;

/** Consecutive tries to resume a stream, and the first pause; it doubles. */
export const RESUME_TRIES = 2;
export const RESUME_MS = 1_000;
export const LONGEST_RESUME_MS = 30_000;

/** Tries of a call that is safe to repeat. */
export const MAX_TRIES = 3;
/** First pause before a retry; it doubles. */
export const RETRY_MS = 500;
