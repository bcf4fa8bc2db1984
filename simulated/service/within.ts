import { withTimeout } from "../../src/async/timeout";

/**
 * The result of `work`. Throws after `ms` with the name of what was awaited. The work itself
 * continues.
 */
export const within = <T>(ms: number, what: string, work: Promise<T>): Promise<T> =>
  withTimeout(
    ms,
    () => work,
    () => new Error(`Timed out after ${ms} ms: waited for ${what}.`),
  );
