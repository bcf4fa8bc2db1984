import { createParser, type EventSourceMessage } from "eventsource-parser";

/** Ends an attempt to read when nothing, not even a heartbeat, comes for `idleMs`. */
class Silence {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly idleMs: number) {
    this.broken();
  }
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  /** Something came. */
  broken(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.#controller.abort(new Error("the connection fell silent")),
      this.idleMs,
    );
  }
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/** An event row is at most 2 MB; escaped it may be several times as much. */
const MAX_FRAME_CHARS = 16 * 1024 * 1024;

export type StreamRequest = {
  url: URL;
  /** Sent with the request, beside what a stream needs. */
  headers: Readonly<Record<string, string>>;
  /** Sent as `Last-Event-ID`; 0: from the beginning. */
  lastId: number;
  idleMs: number;
  signal: AbortSignal;
  /** Told how long the server wants clients to wait before they come back. */
  onRetry: (ms: number) => void;
  /** Told at the answer and whenever anything comes, heartbeats too. */
  onLife: () => void;
};

/** Whether an answer is what was asked for, and no page of a proxy or of another service. */
export const isEventStream = ({ status, headers }: Response): boolean =>
  status === 200 && headers.get("content-type")?.startsWith("text/event-stream") === true;

/** One connection to an event stream, until it ends or breaks. Any other answer is returned as its response, not thrown. */
export async function* readStream(
  request: StreamRequest,
): AsyncGenerator<EventSourceMessage, Response> {
  using silence = new Silence(request.idleMs);
  const resume = request.lastId > 0 ? { "Last-Event-ID": String(request.lastId) } : {};
  const headers = { Accept: "text/event-stream", ...request.headers, ...resume };
  const signal = AbortSignal.any([request.signal, silence.signal]);
  const response = await fetch(request.url, { headers, redirect: "manual", signal });
  if (!isEventStream(response) || !response.body) return response;
  request.onLife();
  const received: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (message) => received.push(message),
    onRetry: request.onRetry,
    maxBufferSize: MAX_FRAME_CHARS,
  });
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    silence.broken();
    request.onLife();
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* received.splice(0);
  }
  return response;
}
