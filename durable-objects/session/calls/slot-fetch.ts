import type { Slot } from "../../../src/engine/ports";
import { isUnsent } from "../../shared/outgoing";

/**
 * How far a call's requests have got. `sent`: those handed to the network; what became of them
 * there nobody may know.
 */
export type Progress = { sent: number };

/**
 * `fetch` that says when the response's headers are there, or will not come, and notes how far the
 * request got. Told to give way while it waits for them, it lets go of the connection and throws
 * what the slot's signal was aborted with; told so before, it sends nothing.
 */
export function waitingFetch(
  send: typeof fetch,
  { onHeaders, giveWay }: Slot,
  progress: Progress,
): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ? AbortSignal.any([init.signal, giveWay]) : giveWay;
    try {
      signal.throwIfAborted();
      progress.sent += 1;
      return await send(input, { ...init, signal });
    } catch (error) {
      if (isUnsent(error)) progress.sent -= 1;
      // runtimes name an abort in words of their own
      throw giveWay.aborted && !init?.signal?.aborted ? giveWay.reason : error;
    } finally {
      onHeaders();
    }
  };
}
