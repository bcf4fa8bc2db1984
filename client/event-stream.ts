import { createParser } from "eventsource-parser";

/** One server-sent event. `id` is omitted if the event has none. */
export type StreamEvent = { id?: string | undefined; event?: string | undefined; data: string };

/**
 * Limit of one event. A stored event has at most 2 MB, and escaping in JSON can multiply its size.
 */
const MAX_FRAME_CHARS = 16 * 1024 * 1024;

export type ReadOptions = {
  /** Called with the server's reconnect delay in milliseconds. */
  onRetry?: (ms: number) => void;
  /** Called for each chunk of bytes, also for heartbeats. */
  onBytes?: () => void;
};

/** Whether a response is an event stream. A proxy may respond with an HTML page instead. */
export const isEventStream = ({ status, headers }: Response): boolean =>
  status === 200 && headers.get("content-type")?.startsWith("text/event-stream") === true;

/**
 * Yields the events of a response until its body ends. Throws errors that occur while it is read.
 */
export async function* readEvents(
  { body }: Response,
  { onRetry, onBytes }: ReadOptions = {},
): AsyncGenerator<StreamEvent, void> {
  if (!body) return;
  const received: StreamEvent[] = [];
  const parser = createParser({
    onEvent: (event) => received.push(event),
    ...(onRetry ? { onRetry } : {}),
    maxBufferSize: MAX_FRAME_CHARS,
  });
  const decoder = new TextDecoder();
  const reader = body.getReader(); // not every browser can iterate over a body
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      onBytes?.();
      parser.feed(decoder.decode(step.value, { stream: true }));
      yield* received.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined); // frees the connection if the caller stops early
  }
}

/** Aborts `signal` if no byte arrives for `idleMs`. Heartbeats count as bytes. */
export class IdleLimit {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly idleMs: number) {
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.#controller.abort(new Error(`nothing arrived for ${this.idleMs} ms`)),
      this.idleMs,
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
