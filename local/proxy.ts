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
  responseHeaders,
  forwardedHeaders,
  type Refusal,
  refusalOf,
  requestLine,
} from "./proxy-rules";

type ProxyOptions = {
  /** The Unix socket on which the service listens. */
  socketPath: string;
  /** Called once for each request with its log line, when the response has ended. */
  onRequestEnd: (line: string) => void;
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

/** Longest time in which a client must send a request's head. There is no limit for bodies. */
const MAX_HEAD_MS = 60_000;
/** An idle connection of a client is closed after this time. */
const IDLE_MS = 75_000;
/** The status in the log if the client closed the connection before the response. */
const CLIENT_CLOSED_STATUS = 499;

/**
 * Creates the only server that listens on a port. It forwards requests for a loopback name to the
 * service's Unix socket, without buffering in either direction. It aborts a request if the client
 * closes the connection.
 */
export function createProxy(options: ProxyOptions): Server {
  const server = createServer({ shouldUpgradeCallback: isWebSocket }, (incoming, outgoing) =>
    serve(incoming, outgoing, options),
  );
  server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) =>
    upgrade({ incoming, socket, head }, options),
  );
  server.headersTimeout = MAX_HEAD_MS;
  server.requestTimeout = 0;
  server.keepAliveTimeout = IDLE_MS;
  return server;
}

/**
 * Only WebSocket upgrades are forwarded. A request for another protocol, such as `h2c`, is normal.
 */
const isWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === "websocket";

function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { socketPath, onRequestEnd }: ProxyOptions,
): void {
  const head = headOf(incoming);
  const startedAt = performance.now();
  outgoing.on("close", () => {
    const status = outgoing.headersSent ? outgoing.statusCode : CLIENT_CLOSED_STATUS;
    onRequestEnd(requestLine(head, status, performance.now() - startedAt));
  });
  const refusal = refusalOf(head);
  if (refusal !== null) return refuse(outgoing, refusal);
  const expectation = hasBody(incoming) ? ["Expect", "100-continue"] : [];
  const upstream = request({
    ...upstreamOptions(incoming, socketPath),
    headers: [...serviceHeaders(incoming), ...expectation],
  });
  upstream.on("response", (response) => {
    outgoing.writeHead(
      response.statusCode ?? 502,
      response.statusMessage,
      responseHeaders(response.rawHeaders),
    );
    outgoing.flushHeaders(); // sends the head of a stream before its first event
    response.pipe(outgoing);
    response.on("close", () => {
      if (!response.complete) outgoing.destroy(); // an incomplete response must not look complete
    });
  });
  const body = readingFirst();
  // After the response has started, the event `close` of the response handles its errors.
  upstream.on("error", (error) => {
    incoming.unpipe(body).resume();
    if (!outgoing.headersSent && !outgoing.destroyed) refuse(outgoing, refusalFor(error));
  });
  outgoing.on("close", () => upstream.destroy());
  incoming.on("error", () => upstream.destroy());
  sendBody(incoming, { upstream, body });
}

/**
 * Sends the body once the service asks for it with `100 Continue`. So a request that the service
 * refuses by its head alone is not interrupted.
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
 * Forwards each chunk after the sockets were read once more. A service that refuses a large body
 * responds and closes the connection. A write to the closed socket would discard the unread
 * response.
 */
const readingFirst = (): Transform =>
  new Transform({
    transform: (chunk: Buffer, _, done) => void setImmediate(() => done(null, chunk)),
  });

const refusalFor = (error: NodeJS.ErrnoException): Refusal =>
  error.code === "ENOENT" || error.code === "ECONNREFUSED" ? STARTING : LOST;

type Upgrade = { incoming: IncomingMessage; socket: Duplex; head: Buffer };

function upgrade(
  { incoming, socket, head }: Upgrade,
  { socketPath, onRequestEnd }: ProxyOptions,
): void {
  const startedAt = performance.now();
  const log = (status: number) =>
    onRequestEnd(requestLine(headOf(incoming), status, performance.now() - startedAt));
  socket.on("error", () => socket.destroy());
  const refusal = refusalOf(headOf(incoming));
  if (refusal !== null) {
    log(refusal.status);
    return void socket.end(rawRefusal(refusal));
  }
  const headers = [
    ...serviceHeaders(incoming),
    "Connection",
    "Upgrade",
    "Upgrade",
    incoming.headers.upgrade ?? "",
  ];
  const upstream = request({ ...upstreamOptions(incoming, socketPath), headers });
  upstream.on("upgrade", (response: IncomingMessage, service: Socket, first: Buffer) => {
    log(response.statusCode ?? 101);
    socket.write(rawHead(response));
    socket.write(first);
    service.write(head);
    service.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("close", () => service.destroy());
    service.pipe(socket).pipe(service);
  });
  upstream.on("response", (response) => {
    log(response.statusCode ?? 502);
    socket.write(rawHead(response, { endsConnection: true }));
    response.pipe(socket);
  });
  upstream.on("error", (error) => socket.end(rawRefusal(refusalFor(error))));
  socket.on("close", () => upstream.destroy());
  upstream.end();
}

const headOf = ({ method = "", url = "", rawHeaders }: IncomingMessage) => ({
  method,
  target: url,
  rawHeaders,
});

/**
 * The options of a request to the service. Each request has its own connection, because the
 * proxy cannot know when the service closes an idle connection.
 */
const upstreamOptions = ({ method, url }: IncomingMessage, socketPath: string) => ({
  socketPath,
  method,
  path: url,
  agent: false as const,
});

const serviceHeaders = ({ rawHeaders, socket }: IncomingMessage): string[] =>
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

function rawRefusal(refusal: Refusal): string {
  const lines = Object.entries(headersOf(refusal)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join("")}\r\n${bodyOf(refusal)}`;
}

/**
 * The head of a response. `endsConnection`: the body follows as plain bytes until the connection
 * ends.
 */
function rawHead(
  { statusCode, statusMessage, rawHeaders }: IncomingMessage,
  { endsConnection = false } = {},
): string {
  const headers = endsConnection
    ? [...responseHeaders(rawHeaders), "Connection", "close"]
    : rawHeaders;
  const lines = Array.from(
    { length: headers.length / 2 },
    (_, index) => `${headers[2 * index]}: ${headers[2 * index + 1]}\r\n`,
  );
  const forwardedLines = endsConnection
    ? lines.filter((line) => !/^transfer-encoding:/i.test(line))
    : lines;
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${forwardedLines.join("")}\r\n`;
}
