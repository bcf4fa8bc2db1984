import type { Provider, ProviderError } from "./provider";

type Stream = Provider["stream"];

/**
 * Makes an adapter's generator keep the seam's promise: every throw leaves as a ProviderError (`explain` makes it), and after
 * an abort as `signal.reason`, whatever the SDK below throws, swallows or still has in its buffers.
 */
export function guarded(explain: (error: unknown) => ProviderError, stream: Stream): Stream {
  return async function* guardedStream(request, signal, heard, from) {
    signal.throwIfAborted();
    try {
      for await (const event of stream(request, signal, heard, from)) {
        signal.throwIfAborted(); // nothing that was still in a buffer comes after an abort
        yield event;
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : explain(error);
    }
  };
}
