import { withTimeout } from "../../src/async/timeout";

/**
 * Returns the result of `work`. Throws after `ms` milliseconds; `what` names the work in the error.
 * The work itself continues.
 */
export const within = <T>(ms: number, what: string, work: Promise<T>): Promise<T> =>
  withTimeout(
    ms,
    () => work,
    () => new Error(`Timed out after ${ms} ms: waited for ${what}.`),
  );
