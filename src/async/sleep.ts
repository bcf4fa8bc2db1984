/** Resolves after `ms`. Throws `signal.reason` on abort, and leaves no timer behind. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });

/** Lets other requests run before the caller continues: microtasks would run before them. */
export const nextMacrotask = (): Promise<void> => sleep(0);
