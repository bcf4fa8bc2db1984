import { PLATFORM_FAULTS } from "../../src/providers/platform-words";

/**
 * Whether an error means that the platform failed, not this service. After such an error the object
 * is loaded again from its storage, and the running turn continues.
 */
export function isPlatformFault(error: unknown): boolean {
  return (
    error instanceof Error && (PLATFORM_FAULTS.test(error.message) || isPlatformFault(error.cause))
  );
}
