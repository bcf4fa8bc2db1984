/** Resolves after `ms`. If the signal is aborted, throws `signal.reason` and stops the timer. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });

/** Lets other requests run before the caller continues. A microtask would run before them. */
export const nextMacrotask = (): Promise<void> => sleep(0);
