import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import { type Duplex, Transform } from "node:stream";
import {
  answeredHeaders,
  forwardedHeaders,
  type Refusal,
  refusalOf,
  requestLine,
} from "./proxy-rules";

type ProxyOptions = {
  /** The Unix socket on which the service listens. */
  socketPath: string;
  /** Called once for each request, when its answer has ended. */
  onAnswer: (line: string) => void;
};

const STARTING: Refusal = {
  status: 503,
  code: "service_starting",
  detail: "The service is starting. Retry in a second.",
};
const LOST: Refusal = {
  status: 502,
  code: "connection_lost",
  detail: "The service closed the connection before it answered. Retry the request.",
};

/** How long a client may take for a request's head, in ms. Bodies may take as long as they need. */
const HEAD_WITHIN_MS = 60_000;
const IDLE_MS = 75_000;
/** In the log only: the client left before the response. */
const CLIENT_LEFT = 499;

/**
 * The only listener on a port: it forwards requests under a loopback name to the service's Unix
 * socket, unbuffered in both directions, and aborts a request when its client leaves.
 */
export function createProxy(options: ProxyOptions): Server {
  const server = createServer({ shouldUpgradeCallback: isWebSocket }, (incoming, outgoing) =>
    serve(incoming, outgoing, options),
  );
  server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) =>
    upgrade({ incoming, socket, head }, options),
  );
  server.headersTimeout = HEAD_WITHIN_MS;
  server.requestTimeout = 0;
  server.keepAliveTimeout = IDLE_MS;
  return server;
}

/** Other offered protocols, such as `h2c`, are ignored; the request is answered normally. */
const isWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === "websocket";

function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { socketPath, onAnswer }: ProxyOptions,
): void {
  const head = headOf(incoming);
  const startedAt = performance.now();
  outgoing.on("close", () => {
    const status = outgoing.headersSent ? outgoing.statusCode : CLIENT_LEFT;
    onAnswer(requestLine(head, status, performance.now() - startedAt));
  });
  const refusal = refusalOf(head);
  if (refusal !== null) return refuse(outgoing, refusal);
  const waits = hasBody(incoming) ? ["Expect", "100-continue"] : [];
  const upstream = request({
    ...target(incoming, socketPath),
    headers: [...toService(incoming), ...waits],
  });
  upstream.on("response", (answer) => {
    outgoing.writeHead(
      answer.statusCode ?? 502,
      answer.statusMessage,
      answeredHeaders(answer.rawHeaders),
    );
    outgoing.flushHeaders(); // the head of a stream must not wait for its first event
    answer.pipe(outgoing);
    answer.on("close", () => {
      if (!answer.complete) outgoing.destroy(); // a cut response must not look complete
    });
  });
  const body = afterReading();
  // After the response has started, its own end shows whether it is complete.
  upstream.on("error", (error) => {
    incoming.unpipe(body).resume();
    if (!outgoing.headersSent && !outgoing.destroyed) refuse(outgoing, refusalFor(error));
  });
  outgoing.on("close", () => upstream.destroy());
  incoming.on("error", () => upstream.destroy());
  sendBody(incoming, { upstream, body });
}

/**
 * The body is sent once the service reads it: a request that is refused by its head alone is not
 * interrupted.
 */
function sendBody(
  incoming: IncomingMessage,
  { upstream, body }: { upstream: ClientRequest; body: Transform },
): void {
  if (!hasBody(incoming)) return void upstream.end();
  upstream.on("continue", () => incoming.pipe(body).pipe(upstream));
  upstream.flushHeaders();
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/**
 * Passes each piece on after reading the sockets once more. A service that refuses a large body
 * responds and closes; a write to the closed socket would discard the unread response.
 */
const afterReading = (): Transform =>
  new Transform({
    transform: (piece: Buffer, _, done) => void setImmediate(() => done(null, piece)),
  });

const refusalFor = (error: NodeJS.ErrnoException): Refusal =>
  error.code === "ENOENT" || error.code === "ECONNREFUSED" ? STARTING : LOST;

type Upgrade = { incoming: IncomingMessage; socket: Duplex; head: Buffer };

function upgrade(
  { incoming, socket, head }: Upgrade,
  { socketPath, onAnswer }: ProxyOptions,
): void {
  const startedAt = performance.now();
  const say = (status: number) =>
    onAnswer(requestLine(headOf(incoming), status, performance.now() - startedAt));
  socket.on("error", () => socket.destroy());
  const refusal = refusalOf(headOf(incoming));
  if (refusal !== null) {
    say(refusal.status);
    return void socket.end(rawAnswer(refusal));
  }
  const headers = [
    ...toService(incoming),
    "Connection",
    "Upgrade",
    "Upgrade",
    incoming.headers.upgrade ?? "",
  ];
  const upstream = request({ ...target(incoming, socketPath), headers });
  upstream.on("upgrade", (answer: IncomingMessage, service: Socket, first: Buffer) => {
    say(answer.statusCode ?? 101);
    socket.write(rawHead(answer));
    socket.write(first);
    service.write(head);
    service.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("close", () => service.destroy());
    service.pipe(socket).pipe(service);
  });
  upstream.on("response", (answer) => {
    say(answer.statusCode ?? 502);
    socket.write(rawHead(answer, { closes: true }));
    answer.pipe(socket);
  });
  upstream.on("error", (error) => socket.end(rawAnswer(refusalFor(error))));
  socket.on("close", () => upstream.destroy());
  upstream.end();
}

const headOf = ({ method = "", url = "", rawHeaders }: IncomingMessage) => ({
  method,
  target: url,
  rawHeaders,
});

/** One connection per request: the service closes idle ones at a time that a client cannot know. */
const target = ({ method, url }: IncomingMessage, socketPath: string) => ({
  socketPath,
  method,
  path: url,
  agent: false as const,
});

const toService = ({ rawHeaders, socket }: IncomingMessage): string[] =>
  forwardedHeaders(rawHeaders, socket.remoteAddress);

function refuse(outgoing: ServerResponse, refusal: Refusal): void {
  outgoing.writeHead(refusal.status, headersOf(refusal)).end(bodyOf(refusal));
}

const bodyOf = ({ status, code, detail }: Refusal): string =>
  JSON.stringify({ type: "about:blank", title: code.replaceAll("_", " "), status, detail, code });

const headersOf = (refusal: Refusal): Record<string, string> => ({
  "content-type": "application/problem+json",
  "content-length": String(Buffer.byteLength(bodyOf(refusal))),
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  connection: "close",
  ...(refusal.status === 503 && { "retry-after": "1" }),
});

function rawAnswer(refusal: Refusal): string {
  const lines = Object.entries(headersOf(refusal)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join("")}\r\n${bodyOf(refusal)}`;
}

/** The head of a response. `closes`: its body follows as plain bytes until the connection ends. */
function rawHead(
  { statusCode, statusMessage, rawHeaders }: IncomingMessage,
  { closes = false } = {},
): string {
  const headers = closes ? [...answeredHeaders(rawHeaders), "Connection", "close"] : rawHeaders;
  const lines = Array.from(
    { length: headers.length / 2 },
    (_, nth) => `${headers[2 * nth]}: ${headers[2 * nth + 1]}\r\n`,
  );
  const kept = closes ? lines.filter((line) => !/^transfer-encoding:/i.test(line)) : lines;
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${kept.join("")}\r\n`;
}
