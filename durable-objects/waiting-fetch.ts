import type { Slot } from "./effect-runner";

/**
 * `fetch` that says when the response's headers are there, or will not come, and notes whether they came. Told to give way
 * while it waits for them, it lets go of the connection and throws what the slot's signal was aborted with.
 */
export function waitingFetch(send: typeof fetch, { onHeaders, giveWay }: Slot, headers: { came: boolean }): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ? AbortSignal.any([init.signal, giveWay]) : giveWay;
    try {
      const response = await send(input, { ...init, signal });
      headers.came = true;
      return response;
    } catch (error) {
      throw giveWay.aborted && !init?.signal?.aborted ? giveWay.reason : error; // runtimes name an abort in words of their own
    } finally {
      onHeaders();
    }
  };
}
