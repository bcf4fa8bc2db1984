/** What the runtime says when it takes an object down or its storage away (Cloudflare's documentation and issues, autumn 2026). */
const PLATFORM_WORDS =
  /durable object (reset|has been reset|storage)|its code was updated|object to be reset|storage operation|overloaded|database or disk is full|sqlite_(busy|ioerr|full|nomem)/i;

/** Whether the platform failed, not we: then the object begins again from what is stored, and no run is charged for it. */
export function isPlatformFault(error: unknown): boolean {
  return error instanceof Error && (PLATFORM_WORDS.test(error.message) || isPlatformFault(error.cause));
}
