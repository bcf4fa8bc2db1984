import type { Message, ModelEvent, ModelRequest, Provider, ProviderError } from "./provider";
import { LAST_WAIT_MS } from "./call-limits";

type Stream = Provider["stream"];

/**
 * Enforces the error contract of `Provider.stream` for an adapter's generator. Every failure is
 * thrown as the ProviderError that `explain` makes, and after an abort as `signal.reason`, whether
 * the SDK throws, swallows or buffers.
 */
export function guarded(explain: (error: unknown) => ProviderError, stream: Stream): Stream {
  return async function* guardedStream(request, signal, onBytes, from) {
    signal.throwIfAborted();
    try {
      for await (const event of stream(request, signal, onBytes, from)) {
        signal.throwIfAborted(); // after an abort, drop events that are still buffered
        yield event;
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : explain(error);
    }
  };
}

type Decoder = {
  push(chunk: unknown): ModelEvent[];
  /** Whether the end marker of the reply has arrived. Later failures then do not matter. */
  isComplete(): boolean;
  /** Whether nothing more can arrive. Omitted: only the end of the stream says so. */
  isOver?(): boolean;
};

/**
 * The events that a decoder makes of a reply's chunks. A failure after the end marker is ignored; a
 * failure before it fails the call. After the end marker, waits at most LAST_WAIT_MS for more, then
 * calls `close`, which must close the connection and so end the chunks. Leaving the loop early
 * closes it too. No timer remains.
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
      // `yield*` would add an iterator per event
      for (const event of decoder.push(chunk)) yield event;
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
 * The request with the attachments of its question. They are read for each send: they are
 * megabytes, and only the request being sent may hold them. Throws the errors of reading.
 */
export async function withParts(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest> {
  if (!request.attached) return request;
  const parts = await request.attached(signal);
  const [first, ...rest]: Message[] = request.messages;
  if (first?.role !== "user" || parts.length === 0) return request;
  return { ...request, messages: [{ ...first, parts }, ...rest] };
}
