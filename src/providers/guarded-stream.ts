import type { Message, ModelEvent, ModelRequest, Provider, ProviderError } from "./provider";
import { LAST_WAIT_MS } from "./call-limits";

type Stream = Provider["stream"];

/**
 * Enforces the error contract of `Provider.stream` for the generator of an adapter. After an abort,
 * throws `signal.reason`, whether the SDK throws, ignores the abort, or still has events. Every
 * other failure is converted by `explain`.
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
  /**
   * Whether the end marker of the reply has arrived. A failure after it does not harm the reply.
   */
  isComplete(): boolean;
  /** Whether nothing more can arrive. Omitted if only the end of the stream shows that. */
  isOver?(): boolean;
};

/**
 * The events that a decoder makes from the chunks of a reply. A failure before the end marker fails
 * the call; a failure after it is ignored. After the end marker, waits at most LAST_WAIT_MS for
 * more chunks, then calls `close`. `close` must close the connection, which ends the chunks. If the
 * caller stops early, the chunks are closed too. No timer remains.
 */
export async function* readReply(
  chunks: AsyncIterable<unknown> | Iterable<unknown>,
  decoder: Decoder,
  close: () => void,
): AsyncGenerator<ModelEvent> {
  let lastWait: ReturnType<typeof setTimeout> | undefined;
  try {
    for await (const chunk of chunks) {
      // a call without a timer costs more than this check, and comes with every chunk
      if (lastWait !== undefined) clearTimeout(lastWait);
      // `yield*` would add an iterator per event
      for (const event of decoder.push(chunk)) yield event;
      if (decoder.isOver?.()) return;
      if (decoder.isComplete()) lastWait = setTimeout(close, LAST_WAIT_MS);
    }
  } catch (error) {
    if (!decoder.isComplete()) throw error;
  } finally {
    if (lastWait !== undefined) clearTimeout(lastWait);
  }
}

/**
 * The request with the attachments of its question. They are read again before each send, because
 * they are megabytes: only a request that is being sent may keep them in memory. Throws the errors
 * of reading.
 */
export async function withParts(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest> {
  if (!request.attached) return request;
  const parts = await request.attached(signal);
  const [first, ...rest]: Message[] = request.messages;
  if (first?.role !== "user" || parts.length === 0) return request;
  return { ...request, messages: [{ ...first, parts }, ...rest] };
}
