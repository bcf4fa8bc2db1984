/** An abort of our own that also follows somebody else's signal. `unlink` must be called when the work is over. */
type LinkedAbort = { signal: AbortSignal; abort(reason?: unknown): void; unlink(): void };

/** Unlike `AbortSignal.any`, leaves nothing behind on a signal that outlives the call. */
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
