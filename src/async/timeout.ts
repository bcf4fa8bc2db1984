/**
 * Throws `late()` if the work takes longer than `ms`. The work itself continues, and its result is
 * dropped.
 */
export async function withTimeout<T>(
  ms: number,
  work: () => Promise<T>,
  late: () => Error,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  try {
    return await Promise.race([work(), promise]);
  } finally {
    clearTimeout(timer);
  }
}
