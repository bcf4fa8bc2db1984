/**
 * Waits for `work` and returns its result. Throws `signal.reason` as soon as the signal is aborted;
 * the work itself then continues, and its result is dropped. Leaves no listener on the signal.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const result = Promise.race([work, aborted]);
  const removeListener = () => signal.removeEventListener("abort", onAbort);
  result.then(removeListener, removeListener);
  return result;
}

/**
 * An abort controller that is also aborted by a parent signal. `unlink` removes its listener from
 * the parent; call it when the work has ended.
 */
type LinkedAbort = { signal: AbortSignal; abort(reason?: unknown): void; unlink(): void };

/**
 * Creates an abort controller that follows `parent`. Unlike a signal of `AbortSignal.any`, it can
 * be unlinked from a parent that exists longer than the work.
 */
export function linkedAbort(parent: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const onParentAbort = () => controller.abort(parent.reason);
  if (parent.aborted) onParentAbort();
  else parent.addEventListener("abort", onParentAbort, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => parent.removeEventListener("abort", onParentAbort),
  };
}
