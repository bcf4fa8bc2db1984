import { WORKFLOW_TOOLS } from "../../coordination/tool/offers";

/** Limits of MCP servers. Names end in the unit: `CHARS` (UTF-16 code units), `BYTES` or `MS`. */

/** Tools of one server. Further tools of a listing are ignored; their number is reported. */
export const MAX_TOOLS = 10_000;
/** Functions in one request to a provider. Providers do not accept more. */
const MAX_FUNCTIONS = 128;
/**
 * Tools of an agent, without the coordination tools. Its own tools count first, then its servers'.
 */
export const MAX_OFFERED = MAX_FUNCTIONS - WORKFLOW_TOOLS.length;
/**
 * Characters of all tool definitions of an agent's servers together. Almost no context window is
 * larger.
 */
export const MAX_OFFERED_CHARS = 512 * 1024;
/** Characters of a tool's description for the model. */
export const MAX_DESCRIPTION_CHARS = 4_096;
/** Characters of a tool's schema as JSON. A tool with a larger schema is refused. */
export const MAX_SCHEMA_CHARS = 64 * 1024;
/**
 * Bytes of all responses of a connection from one listing to the next, without replies to calls.
 */
export const MAX_LISTING_BYTES = 16 * 1024 * 1024;
/** Bytes of a reply to a call. */
export const MAX_RESULT_BYTES = 25 * 1024 * 1024;
/** Files of one result. `MAX_RESULT_BYTES` limits their size. */
export const MAX_FILES = 16;
/** Characters of a resource's text in a result. A longer text is stored in a file. */
export const MAX_EMBEDDED_CHARS = 20_000;
/** Characters of the reason why a tool is not offered. The reason may quote the schema. */
export const MAX_WHY_CHARS = 300;
/** Pages of one listing. */
export const MAX_PAGES = 64;

/** Characters of the longest tool name that every provider accepts. */
export const MAX_NAME_CHARS = 64;
/** Characters of a progress message. */
export const MAX_PROGRESS_CHARS = 500;
/** Characters of an address that a person should open. A longer address is dropped, not cut. */
export const MAX_URL_CHARS = 2_000;
/** Characters of a server's error message. */
export const MAX_ERROR_CHARS = 2_000;

/** Longest call, also with progress. The platform would end a longer call. */
export const LONGEST_CALL_MS = 840_000;
/** Longest wait for the headers of a server's stream. The request has a slot until they arrive. */
export const STREAM_HEADERS_MS = 10_000;

/** Time limit for ending the session with a server. */
export const CLOSE_LIMIT_MS = 2_000;

/** Consecutive failed tries to resume a stream, after which the call fails. */
export const RESUME_TRIES = 2;
/** First pause before a try to resume a stream. Each later pause is twice as long. */
export const RESUME_MS = 1_000;
/** Longest pause before a try to resume a stream. */
export const LONGEST_RESUME_MS = 30_000;

/** Tries of a call that is safe to repeat, including the first. */
export const MAX_TRIES = 3;
/** First pause before a retry. Each later pause is twice as long. */
export const RETRY_MS = 500;
