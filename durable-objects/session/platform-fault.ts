import { PLATFORM_FAULTS } from "../../src/providers/platform-words";

/**
 * Whether the platform failed rather than this service. Then the object is loaded again from
 * storage, and no run is charged.
 */
export function isPlatformFault(error: unknown): boolean {
  return (
    error instanceof Error && (PLATFORM_FAULTS.test(error.message) || isPlatformFault(error.cause))
  );
}
