import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";

/** Requests whose path is `/silent` or `/stream`, by path and query. */
export type OpenRequests = { opened: string[]; closed: string[] };

const STREAM_GAP_MS = 10;

/**
 * Starts a server for tests of the way to a server.
 * - `/echo` responds with method, headers and body of the request as JSON
 * - `/silent` never responds; `/stream` sends lines until the client closes
 * - `/cut` sends a line and breaks the connection; `/reset` breaks it without a response
 * - `/moved` is a redirect to `/echo`; `/gzip` is compressed; `/status/N` has this status
 * - `/headers?name=value` responds with these headers
 * - `/open` lists the requests of `/silent` and `/stream` so far
 */
export async function startEchoServer(): Promise<{ url: string; close(): Promise<void> }> {
  const requests: OpenRequests = { opened: [], closed: [] };
  const server = createServer((request, response) => void handle(request, response, requests));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  requests: OpenRequests,
): Promise<void> {
  const { method, url = "", headers } = request;
  const { pathname, searchParams } = new URL(url, "http://echo");
  const body = await text(request);
  const [, status] = /^\/status\/(\d+)$/.exec(pathname) ?? [];
  switch (pathname) {
    case "/echo":
      return void response.end(JSON.stringify({ method, headers, body }));
    case "/silent":
      return follow(response, url, requests);
    case "/stream": {
      follow(response, url, requests);
      const timer = setInterval(() => response.write("line\n"), STREAM_GAP_MS);
      return void response.once("close", () => clearInterval(timer));
    }
    case "/cut":
      return void response.write("line\n", () => request.socket.destroy());
    case "/reset":
      return void request.socket.destroy();
    case "/moved":
      return void response.writeHead(302, { location: "/echo" }).end();
    case "/gzip":
      return void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("unpacked"));
    case "/headers":
      return void response.writeHead(200, Object.fromEntries(searchParams)).end("text");
    case "/open":
      return void response.end(JSON.stringify(requests));
    default:
      return void response.writeHead(Number(status ?? 404)).end("text");
  }
}

function follow(response: ServerResponse, url: string, { opened, closed }: OpenRequests): void {
  opened.push(url);
  response.once("close", () => closed.push(url));
}
