/**
 * Runs `work` and returns its result. If the work takes longer than `ms`, throws the error that
 * `toError` returns; the work itself then continues, and its result is dropped.
 */
export async function withTimeout<T>(
  ms: number,
  work: () => Promise<T>,
  toError: () => Error,
): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(toError()), ms);
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
