import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isTerminal, type WireEvent } from "../../src/protocol/events";
import { runLinks } from "../../src/protocol/paths";
import { type Body, log, SESSION } from "../protocol/builders";

/**
 * The response to one connection to the event stream.
 *
 * - `cut`: the socket is destroyed
 * - `torn`: the socket is destroyed in the middle of the next frame
 * - `end`: the stream is closed normally
 * - `hold`: the stream stays open, and `push` sends further events
 * - `silence`: the stream stays open, without heartbeats
 * - `slow`: only heartbeats for 1.5 s, then the rest in chunks that split characters
 * - `quiet`: only heartbeats for 1.5 s, then the socket is destroyed
 * - `page`: a web page instead of a stream
 */
export type Connection =
  | { send?: number; ends: "cut" | "torn" | "end" | "hold" | "silence" | "slow" | "quiet" }
  | { status: number; problem?: object }
  | { page: string };

export type ServiceOptions = {
  events: WireEvent[];
  /**
   * The responses to the first connections, in order. Later connections get all events and stay
   * open until the turn ends.
   */
  connections?: Connection[];
  /** Responses that replace the default ones, by path. */
  answers?: Record<string, { status: number; type?: string; body: unknown }>;
  /** Paths that are never answered. */
  hangs?: string[];
  /** Appended when a run is cancelled. */
  onCancel?: Body;
  retryMs?: number;
};

/** A real HTTP server that has the API and the event stream of the service, for a given log. */
export class Service {
  readonly requests: { method: string; path: string; body: string; lastEventId: string | null }[] =
    [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #openStreams = new Set<ServerResponse>();
  readonly #connections: Connection[];
  readonly events: WireEvent[];

  private constructor(readonly options: ServiceOptions) {
    this.events = [...options.events];
    this.#connections = [...(options.connections ?? [])];
  }

  static async start(options: ServiceOptions): Promise<Service> {
    const service = new Service(options);
    await new Promise<void>((resolve) => service.#server.listen(0, "127.0.0.1", resolve));
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The `Last-Event-ID` of each connection to the event stream so far. */
  get resumes(): (string | null)[] {
    return this.requests
      .filter(({ path }) => path.endsWith("/events"))
      .map(({ lastEventId }) => lastEventId);
  }

  /** Appends an event and sends it to the open streams. */
  push(body: Body): void {
    const [event] = log([body], { from: (this.events.at(-1)?.sequence_number ?? 0) + 1 });
    if (!event) return;
    this.events.push(event);
    for (const response of this.#openStreams) {
      response.write(frame(event));
      if (isTerminal(event.type)) response.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    let body = "";
    for await (const chunk of request) body += chunk;
    const lastEventId = request.headers["last-event-id"]?.toString() ?? null;
    this.requests.push({ method: request.method ?? "", path, body, lastEventId });
    if (this.options.hangs?.includes(path)) return;
    const replacement = this.options.answers?.[path];
    if (replacement) return send(response, replacement);
    if (path === "/api/runs") {
      return send(response, {
        status: 202,
        body: { session_id: SESSION, turn: 1, status: "running", links: runLinks(SESSION, 1) },
      });
    }
    if (path === `/api/sessions/${SESSION}`)
      return send(response, { status: 200, body: { turns: [{ turn: 1 }] } });
    if (path === `/api/sessions/${SESSION}/cancel`) {
      if (this.options.onCancel) this.push(this.options.onCancel);
      return send(response, { status: 200, body: {} });
    }
    if (path === `/api/sessions/${SESSION}/turns/1/events`)
      return this.#stream(response, Number(lastEventId ?? 0));
    send(response, problem(404, { title: "Not found", code: "session_not_found" }));
  }

  #stream(response: ServerResponse, lastId: number): void {
    const connection = this.#connections.shift() ?? { ends: "hold" as const };
    if ("page" in connection)
      return send(response, { status: 200, type: "text/html", body: connection.page });
    if ("status" in connection)
      return send(response, problem(connection.status, connection.problem ?? {}));
    const missing = this.events.filter(({ sequence_number }) => sequence_number > lastId);
    if (missing.length === 0 && this.events.some(({ type }) => isTerminal(type))) {
      response.writeHead(204).end();
      return;
    }
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
    });
    response.write(`retry: ${this.options.retryMs ?? 5}\n\n: hello\n\n`);
    const sent = missing.slice(0, connection.send ?? missing.length);
    for (const event of sent) response.write(frame(event));
    if (sent.some(({ type }) => isTerminal(type))) return void response.end();
    const next = missing[sent.length];
    if (connection.ends === "slow") return void sendSlowly(response, missing.slice(sent.length));
    if (connection.ends === "quiet")
      return void sendHeartbeats(response).then(() => response.destroy());
    endStream(response, connection.ends, next ? frame(next) : "");
    if (connection.ends === "hold") {
      this.#openStreams.add(response);
      response.on("close", () => this.#openStreams.delete(response));
    }
  }
}

function endStream(
  response: ServerResponse,
  end: "cut" | "torn" | "end" | "hold" | "silence",
  next: string,
): void {
  if (end === "end") response.end();
  if (end === "torn") response.write(next.slice(0, next.length / 2), () => response.destroy());
  if (end === "cut") response.write(": x\n\n", () => response.destroy());
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function sendHeartbeats(response: ServerResponse): Promise<void> {
  for (let beats = 0; beats < 30; beats++) {
    response.write(": beat\n\n");
    await sleep(50);
  }
}

async function sendSlowly(response: ServerResponse, events: WireEvent[]): Promise<void> {
  await sendHeartbeats(response);
  const bytes = Buffer.from(events.map(frame).join(""));
  // The first byte of a character that has several bytes.
  const splitAt = bytes.findIndex((byte: number) => byte >= 0xc0);
  for (const part of splitAt < 0
    ? [bytes]
    : [bytes.subarray(0, splitAt + 1), bytes.subarray(splitAt + 1)]) {
    response.write(part);
    await sleep(50);
  }
  response.end();
}

const frame = (event: WireEvent): string =>
  `event: ${event.type}\nid: ${event.sequence_number}\ndata: ${JSON.stringify(event)}\n\n`;

/** An answer as problem+json. */
export const problem = (status: number, members: object) => ({
  status,
  type: "application/problem+json",
  body: { type: "about:blank", title: "Error", status, code: "error", ...members },
});

function send(
  response: ServerResponse,
  { status, type = "application/json", body }: { status: number; type?: string; body: unknown },
): void {
  response
    .writeHead(status, { "Content-Type": type })
    .end(typeof body === "string" ? body : JSON.stringify(body));
}
