import { DurableObject } from "cloudflare:workers";

/**
 * `events`: their number. `rate`: events per second. `bytes`: size of an event. `every`: interval
 * between deliveries in ms.
 */
type Stream = { events: number; rate: number; bytes: number; every: number };

/**
 * The minimal live stream. A timer creates events in memory. Each reader receives all pending
 * events in one write as soon as its socket has space. The relay has no log, rules or disk.
 */
export class RelayObject extends DurableObject {
  readonly #events: Uint8Array[] = [];
  readonly #waiting = new Set<() => void>();

  /** `POST …?events=&rate=&bytes=&every=` starts the stream, any other request reads it. */
  override async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    if (request.method === "GET")
      return new Response(this.#stream(), { headers: { "content-type": "text/event-stream" } });
    const parameter = (name: string) => Number(searchParams.get(name));
    await this.#play({
      events: parameter("events"),
      rate: parameter("rate"),
      bytes: parameter("bytes"),
      every: parameter("every"),
    });
    return new Response("played");
  }

  async #play({ events, rate, bytes, every }: Stream): Promise<void> {
    const encoder = new TextEncoder();
    const startedAt = Date.now();
    while (this.#events.length < events) {
      await new Promise((resolve) => setTimeout(resolve, every));
      const due = Math.min(events, Math.floor(((Date.now() - startedAt) * rate) / 1_000));
      while (this.#events.length < due)
        this.#events.push(encoder.encode(frame(this.#events.length + 1, bytes)));
      for (const wake of this.#waiting) wake();
    }
  }

  #stream(): ReadableStream<Uint8Array> {
    let cursor = 0;
    return new ReadableStream<Uint8Array>(
      {
        // The runtime sends the headers only with the first bytes of the body.
        start: (controller) => controller.enqueue(new TextEncoder().encode("retry: 2000\n\n")),
        pull: async (controller) => {
          while (cursor === this.#events.length) await this.#nextEvents();
          const events = this.#events.slice(cursor);
          cursor += events.length;
          controller.enqueue(concatenated(events));
        },
      },
      { highWaterMark: 0 },
    );
  }

  #nextEvents(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
    });
  }
}

function frame(seq: number, bytes: number): string {
  const head = `event: relayed\nid: ${seq}\ndata: {"type":"relayed","sequence_number":${seq},"at":${Date.now()},"text":"`;
  return `${head}${"x".repeat(Math.max(0, bytes - head.length - 4))}"}\n\n`;
}

function concatenated(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
