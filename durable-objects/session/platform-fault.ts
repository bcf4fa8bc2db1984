import { PLATFORM_FAULTS } from "../../src/providers/platform-words";

/** Whether the platform failed, not we: then the object begins again from what is stored, and no run is charged for it. */
export function isPlatformFault(error: unknown): boolean {
  return (
    error instanceof Error && (PLATFORM_FAULTS.test(error.message) || isPlatformFault(error.cause))
  );
}
