/**
 * Parts of the error messages of the Cloudflare runtime after a failure of the platform (its
 * documentation and issues, autumn 2026). Which lists apply depends on where the error is caught.
 */

/** The runtime has stopped a Durable Object because of a deployment, a migration or a restart. */
const RESET = [
  "durable object (reset|has been reset)",
  "(its code was|code has been) updated",
  "object to be reset",
  "moved to a different machine",
  "cannot resolve durable object due to transient",
  "durable object storage operation exceeded",
  "the script will never generate a response",
];

/** The storage or the memory of a Durable Object has failed. */
const FAILED = [
  "durable object (storage|is overloaded)",
  "(no longer|cannot) access storage",
  "exceeded its (memory|cpu)",
  "internal error; reference",
  "storage operation",
  "database or disk is full",
  "sqlite_(busy|ioerr|full|nomem)",
];

/**
 * Messages that callers of a Durable Object receive if the object has disappeared or reset itself.
 */
const CONNECTION_LOST = ["network connection lost", "the session begins again"];

/**
 * Message of an object that resets itself to free its memory. Waiting callers receive it as an
 * error.
 */
export const BEGINS_AGAIN = "The session begins again from what is stored.";

const anyOf = (...lists: readonly (readonly string[])[]): RegExp =>
  new RegExp(lists.flat().join("|"), "i");

/**
 * For errors during a call to a provider: the platform interrupted the call, so the provider is not
 * at fault. "Network connection lost." is not included. workerd also uses it for refused and broken
 * connections, which need the back-off of a transient failure.
 */
export const INTERRUPTIONS = anyOf(RESET);
/** For errors inside an object: the platform failed, not our code. */
export const PLATFORM_FAULTS = anyOf(RESET, FAILED);
/**
 * For errors in a caller of an object: the object cannot respond now, but a retry soon will
 * succeed.
 */
export const UNAVAILABLE = anyOf(RESET, FAILED, CONNECTION_LOST);
