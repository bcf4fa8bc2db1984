/**
 * Error messages of Cloudflare's runtime when the platform failed (its documentation and issues,
 * autumn 2026). Which lists apply depends on where the error was caught.
 */

/** The runtime stops an object: a deployment, a migration, a restart. */
const RESET = [
  "durable object (reset|has been reset)",
  "(its code was|code has been) updated",
  "object to be reset",
  "moved to a different machine",
  "cannot resolve durable object due to transient",
  "durable object storage operation exceeded",
  "the script will never generate a response",
];

/** Storage or memory of an object failed. */
const FAILED = [
  "durable object (storage|is overloaded)",
  "(no longer|cannot) access storage",
  "exceeded its (memory|cpu)",
  "internal error; reference",
  "storage operation",
  "database or disk is full",
  "sqlite_(busy|ioerr|full|nomem)",
];

/** Seen by the caller of an object that is gone or has reset itself. */
const LOST = ["network connection lost", "the session begins again"];

/** Message of an object that resets itself to drop its memory. Pending callers receive it. */
export const BEGINS_AGAIN = "The session begins again from what is stored.";

const anyOf = (...lists: readonly (readonly string[])[]): RegExp =>
  new RegExp(lists.flat().join("|"), "i");

/**
 * During a call to a provider: the platform interrupted us, so the provider is not at fault.
 * "Network connection lost." is not included: workerd uses it for refused and broken connections
 * too, and those need the back-off of a transient failure.
 */
export const INTERRUPTIONS = anyOf(RESET);
/** Inside an object: the platform failed, not our code. */
export const PLATFORM_FAULTS = anyOf(RESET, FAILED);
/** In a caller of an object: the object cannot answer now; a retry soon will succeed. */
export const UNAVAILABLE = anyOf(RESET, FAILED, LOST);
