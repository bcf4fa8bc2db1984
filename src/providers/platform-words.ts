/**
 * What Cloudflare's runtime says when it, and not we, failed (its documentation and issues, autumn 2026). One list for all who
 * must tell; which part of it means something depends on where it is heard.
 */

/** An object is taken down: a deploy, a move, a restart. */
const RESET = [
  "durable object (reset|has been reset)",
  "(its code was|code has been) updated",
  "object to be reset",
  "moved to a different machine",
  "cannot resolve durable object due to transient",
  "durable object storage operation exceeded",
  "the script will never generate a response",
];

/** An object's storage or memory fails it. */
const FAILED = [
  "durable object (storage|is overloaded)",
  "(no longer|cannot) access storage",
  "exceeded its (memory|cpu)",
  "internal error; reference",
  "storage operation",
  "database or disk is full",
  "sqlite_(busy|ioerr|full|nomem)",
];

/** Heard by who asked an object that is gone, or has begun again by itself. */
const LOST = ["network connection lost", "the session begins again"];

/** Why an object of ours lets go of its memory; who was waiting for it hears these words. */
export const BEGINS_AGAIN = "The session begins again from what is stored.";

const anyOf = (...lists: readonly (readonly string[])[]): RegExp =>
  new RegExp(lists.flat().join("|"), "i");

/**
 * Heard during a call to a provider: we were interrupted, so the provider is not at fault. "Network connection lost." is not
 * among them: workerd says so of refused and broken connections too, and those want the back-off of a transient failure.
 */
export const INTERRUPTIONS = anyOf(RESET);
/** Heard inside an object: the platform failed it, not we. */
export const PLATFORM_FAULTS = anyOf(RESET, FAILED);
/** Heard by who asks an object: it could not answer now, and will soon. */
export const UNAVAILABLE = anyOf(RESET, FAILED, LOST);
