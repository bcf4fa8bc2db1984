import type { Message, ModelEvent, ModelRequest, Provider, ProviderError } from "./provider";
import { LAST_WAIT_MS } from "./limits";

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

type Decoder = {
  push(chunk: unknown): ModelEvent[];
  /** Whether the provider said how the reply ended, so that what breaks afterwards takes nothing from it. */
  isComplete(): boolean;
  /** Whether nothing more can come. Absent: only the stream's end tells. */
  isOver?(): boolean;
};

/**
 * The events that a decoder makes of a reply's chunks. What breaks after the reply's end was said takes nothing from it; what
 * breaks before fails the call. What may still come after that end is waited for only so long: then `close` must close the
 * connection and so end the chunks. Leaving the loop early closes it, too. No timer is left behind.
 */
export async function* readReply(
  chunks: AsyncIterable<unknown> | Iterable<unknown>,
  decoder: Decoder,
  close: () => void,
): AsyncGenerator<ModelEvent> {
  let lastWait: ReturnType<typeof setTimeout> | undefined;
  try {
    for await (const chunk of chunks) {
      clearTimeout(lastWait);
      for (const event of decoder.push(chunk)) yield event; // `yield*` would wrap every event in an iterator of its own
      if (decoder.isOver?.()) return;
      if (decoder.isComplete()) lastWait = setTimeout(close, LAST_WAIT_MS);
    }
  } catch (error) {
    if (!decoder.isComplete()) throw error;
  } finally {
    clearTimeout(lastWait);
  }
}

/**
 * The request with all that its question brought, read anew each time: it is megabytes, so nobody but the request that is sent
 * may hold on to it. Throws what reading throws.
 */
export async function withParts(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest> {
  if (!request.attached) return request;
  const parts = await request.attached(signal);
  const [first, ...rest]: Message[] = request.messages;
  if (first?.role !== "user" || parts.length === 0) return request;
  return { ...request, messages: [{ ...first, parts }, ...rest] };
}
