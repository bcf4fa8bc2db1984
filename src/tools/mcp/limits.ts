import { WORKFLOW_TOOLS } from "../../coordination/tool/offers";

/** Every bound on what an MCP server may send or take. Sizes in UTF-16 characters or bytes as named, times in ms. */

/** Tools of one server that are looked at; a listing with more is used up to here and said to be cut. */
export const MAX_TOOLS = 10_000;
/** Of one request, of whatever kind: providers take no more. */
const MAX_FUNCTIONS = 128;
/** Tools that an agent is offered besides those of the coordination: its own, then those of all its servers. */
export const MAX_OFFERED = MAX_FUNCTIONS - WORKFLOW_TOOLS.length;
/** Of the definitions of all its servers' tools together; hardly any model's window holds more. */
export const MAX_OFFERED_CHARS = 512 * 1024;
/** Of a description as models see it. */
export const MAX_DESCRIPTION_CHARS = 4_096;
/** Of a tool's schema as JSON; a larger one cannot be cut, so its tool is refused. */
export const MAX_SCHEMA_CHARS = 64 * 1024;
/** What a server may send for connecting, for one listing, and in all on a stream that it opened by itself. */
export const MAX_LISTING_BYTES = 16 * 1024 * 1024;
/** Of one reply to a call. */
export const MAX_RESULT_BYTES = 25 * 1024 * 1024;
/** Files of one result; their bytes are bounded by the reply's. */
export const MAX_FILES = 16;
/** Of a resource's text, as part of the result's. What is longer is a file too. */
export const MAX_EMBEDDED_CHARS = 20_000;
/** Of why a tool is not offered, which may quote its schema. */
export const MAX_WHY_CHARS = 300;
/** Pages of one listing. */
export const MAX_PAGES = 64;

/** Longest name that every provider takes, and its characters. */
export const MAX_NAME_CHARS = 64;
/** Of what a server says of a call's progress. */
export const MAX_PROGRESS_CHARS = 500;
/** Of an address that a server wants a person to open; one that is cut would lead elsewhere. */
export const MAX_URL_CHARS = 2_000;
/** Of what a server says when something went wrong. */
export const MAX_ERROR_CHARS = 2_000;

export const CONNECT_MS = 30_000;
export const CALL_MS = 300_000;
/** However much progress is told, and however the config is written: the platform protects no longer call. */
export const LONGEST_CALL_MS = 840_000;
/** Until the headers of a response. A stream that a server opens by itself holds one of few places until they come. */
export const STREAM_HEADERS_MS = 10_000;

/** For a server to hear that a session with it is over. */
export const GOODBYE_MS = 2_000;

/** Tries in a row to take up a stream that broke off, and the pause before the next; it doubles. */
export const RESUME_TRIES = 2;
export const RESUME_MS = 1_000;
export const LONGEST_RESUME_MS = 30_000;

/** Tries of one call that is known to be safe. */
export const MAX_TRIES = 3;
/** Pause before the next try; doubles. */
export const RETRY_MS = 500;
