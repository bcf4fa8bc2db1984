/**
 * Creates an error without a stack, to be the reason of an abort. The stack of an error refers to
 * the functions that were active when it was created, and so to all that these can reach, until
 * someone reads it. The runtime keeps the reason in each signal and stream that it aborts. If their
 * object is discarded, they form a cycle with these functions that no garbage collection finds, and
 * the whole session stays in memory.
 */
export function withoutStack<E>(create: () => E): E {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return create();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * Lets an error of a stream go of its frames, and returns it. The runtime creates such an error in
 * the call of `read` and keeps it in the stream, whose reader the calling function refers to:
 * again a cycle. V8 drops the functions of a stack when it formats the stack.
 */
export function withoutFrames(error: unknown): unknown {
  if (error instanceof Error) String(error.stack);
  return error;
}

const ENDED = withoutStack(() => new DOMException("The work has ended", "AbortError"));

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
 * An abort controller that is also aborted by parent signals. The reason of `abort` must have no
 * stack (`withoutStack`). `unlink` removes its listeners from the parents; call it when the work
 * has ended.
 */
type LinkedAbort = { signal: AbortSignal; abort(reason?: unknown): void; unlink(): void };

/**
 * Creates an abort controller that follows `parents`. Unlike a signal of `AbortSignal.any`, it can
 * be unlinked from parents that exist longer than the work.
 */
export function linkedAbort(...parents: readonly AbortSignal[]): LinkedAbort {
  const controller = new AbortController();
  const onParentAbort = () => controller.abort(parents.find(({ aborted }) => aborted)?.reason);
  if (parents.some(({ aborted }) => aborted)) onParentAbort();
  else for (const parent of parents) parent.addEventListener("abort", onParentAbort);
  return {
    signal: controller.signal,
    abort: (reason = ENDED) => controller.abort(reason),
    unlink: () => {
      for (const parent of parents) parent.removeEventListener("abort", onParentAbort);
    },
  };
}

/**
 * A time limit of work. `signal` is aborted at the limit or with a parent. `stopTimer` removes the
 * limit. `end` also unlinks the parents; call it when the work has ended.
 */
type TimeLimit = { signal: AbortSignal; stopTimer(): void; end(): void };

/**
 * Starts a time limit of `ms`. At the limit, the reason of the signal is what `toReason` returns,
 * created without a stack; a `TimeoutError` if it is omitted. Unlike the timer of
 * `AbortSignal.timeout`, this timer can be stopped: a running timer keeps a Durable Object in
 * memory.
 */
export function timeLimit(
  ms: number,
  parents: readonly AbortSignal[],
  toReason: () => unknown = toTimeoutError,
): TimeLimit {
  const { signal, abort, unlink } = linkedAbort(...parents);
  const timer = setTimeout(() => abort(withoutStack(toReason)), ms);
  const stopTimer = () => clearTimeout(timer);
  const end = () => {
    stopTimer();
    unlink();
  };
  if (signal.aborted) end();
  else signal.addEventListener("abort", end);
  return { signal, stopTimer, end };
}

const toTimeoutError = (): DOMException =>
  new DOMException("The operation was aborted due to timeout", "TimeoutError");
