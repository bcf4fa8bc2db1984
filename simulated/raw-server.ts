import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A received request. `closed` resolves when the connection to the client is closed. */
export type ReceivedRequest = {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: unknown;
  closed: Promise<void>;
};

/** Writes the response to one request. */
export type Script = (response: ServerResponse, received: ReceivedRequest) => void | Promise<void>;

/** A loopback HTTP server that sends exactly the bytes, pauses and cuts of a test. */
export type RawServer = {
  origin: string;
  /** All requests since the last call of `answer`. */
  received: ReceivedRequest[];
  /** Uses `script` for all later requests and clears `received`. */
  answer(script: Script): void;
  /** The last received request. If there is none, waits for the next one. */
  request(): Promise<ReceivedRequest>;
  close(): Promise<void>;
};

/** Starts the server on the first free port of `ports`. Port 0 means any free port. */
export async function startRawServer(ports: readonly number[] = [0]): Promise<RawServer> {
  let script: Script = (response) => void response.writeHead(500).end("no script");
  const received: ReceivedRequest[] = [];
  const closings = new WeakMap<Socket, Promise<void>>();
  const server = createServer(async (request, response) => {
    const closed = closings.get(request.socket) ?? Promise.resolve();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { method = "", url = "", headers } = request;
    const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
    const receivedRequest = {
      method,
      path: url,
      headers,
      body: isForm ? text : text === "" ? null : JSON.parse(text),
      closed,
    };
    received.push(receivedRequest);
    server.emit("received");
    await script(response, receivedRequest);
  });
  server.on("connection", (socket) => {
    closings.set(socket, new Promise((resolve) => socket.once("close", () => resolve())));
  });
  await listenOnFirstFree(server, ports);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    received,
    answer(next) {
      received.length = 0;
      script = next;
    },
    async request() {
      if (received.length === 0) await once(server, "received");
      const last = received.at(-1);
      if (!last) throw new Error("no request came");
      return last;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export const SSE_HEADERS = { "content-type": "text/event-stream" };

/** Sends the frames as an event stream and ends the stream. */
export const events =
  (frames: readonly string[]): Script =>
  (response) =>
    void response.writeHead(200, SSE_HEADERS).end(frames.join(""));

/** Sends these bytes of an event stream and then breaks the connection. */
export const cutAfter =
  (bytes: Uint8Array | string): Script =>
  (response) => {
    response.writeHead(200, SSE_HEADERS);
    response.flushHeaders();
    response.write(bytes, () => setImmediate(() => response.destroy()));
  };

/** Sends this text of an event stream, then nothing more. The stream never ends. */
export const silentAfter =
  (text: string): Script =>
  (response) => {
    response.writeHead(200, SSE_HEADERS);
    response.flushHeaders();
    response.write(text);
  };

/** A response that is not a stream. */
export const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Script =>
  (response) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const type = typeof body === "string" ? "text/plain" : "application/json";
    response.writeHead(status, { "content-type": type, ...headers }).end(text);
  };

async function listenOnFirstFree(server: Server, ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    const isListening = new Promise<boolean>((done) => {
      server.once("error", () => done(false)).once("listening", () => done(true));
    });
    server.listen(port, "127.0.0.1");
    const listens = await isListening;
    server.removeAllListeners("error").removeAllListeners("listening");
    if (listens) return;
  }
  throw new Error(`none of the ports ${ports.join(", ")} is free`);
}
