/**
 * The result of `work`; throws `signal.reason` as soon as the signal is aborted. The work itself
 * continues, and its result is dropped. Leaves no listener on the signal.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const first = Promise.race([work, promise]);
  const forget = () => signal.removeEventListener("abort", abort);
  first.then(forget, forget);
  return first;
}

/** An abort controller that also follows a parent signal. Call `unlink` when the work is over. */
type LinkedAbort = { signal: AbortSignal; abort(reason?: unknown): void; unlink(): void };

/** Unlike `AbortSignal.any`, it keeps no listener on a parent that outlives the call. */
export function linkedAbort(parent: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const follow = () => controller.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => parent.removeEventListener("abort", follow),
  };
}
