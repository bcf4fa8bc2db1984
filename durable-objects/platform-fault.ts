/** What the runtime says when it takes an object down or its storage away (Cloudflare's documentation and issues, autumn 2026). */
const PLATFORM_WORDS =
  /durable object (reset|has been reset|storage|is overloaded)|(its code was|code has been) updated|no longer access storage|cannot access storage|moved to a different machine|object to be reset|exceeded its (memory|cpu)|internal error; reference|storage operation|database or disk is full|sqlite_(busy|ioerr|full|nomem)/i;

/** Whether the platform failed, not we: then the object begins again from what is stored, and no run is charged for it. */
export function isPlatformFault(error: unknown): boolean {
  return error instanceof Error && (PLATFORM_WORDS.test(error.message) || isPlatformFault(error.cause));
}
