import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { addressGuard, guardedFetch, markedFetch } from "../../../src/outgoing/address-guard";
import type { HttpToolDefinition } from "../../../src/tools/http/definition";
import { httpTool } from "../../../src/tools/http/http-tool";
import { MAX_RESPONSE_BYTES } from "../../../src/tools/http/response";
import type { ToolContext } from "../../../src/tools/tool";
import { contextWith, toolAt } from "./tool-builders";

/** A real HTTP server whose response depends on the path, and a tool that calls this server. */

type ReceivedRequest = {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
};
/** The response of the server for each path. For `/answers?418`, it is the status 418. */
const answers: Record<string, (response: ServerResponse, request: ReceivedRequest) => void> = {
  "/echo": (response, request) =>
    void response.writeHead(200, JSON_TYPE).end(JSON.stringify(request)),
  "/empty": (response) => void response.writeHead(204).end(),
  "/missing": (response) => void response.writeHead(404, TEXT_TYPE).end("there is no such thing"),
  "/moved": (response) =>
    void response.writeHead(302, { location: "http://169.254.169.254/latest" }).end("go"),
  "/latin": (response) =>
    void response
      .writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" })
      .end(Buffer.from([0x57, 0xfc])),
  "/odd-charset": (response) =>
    void response.writeHead(200, { "content-type": "text/plain; charset=nobody" }).end("plain"),
  "/unnamed": (response) => void response.writeHead(200).end("no type"),
  "/controls": (response) => void response.writeHead(200, TEXT_TYPE).end("a\u001b[2Jb\u202ec\r\nd"),
  "/secret": (response, { headers }) =>
    void response.writeHead(401, TEXT_TYPE).end(`no such key: ${headers["x-key"]}`),
  "/leads-far": (response, { headers }) =>
    void response.writeHead(302, { location: `${"l".repeat(495)}${headers["x-key"]}` }).end(),
  "/typed": (response, { headers }) =>
    void response
      .writeHead(404, { "content-type": `image/${"t".repeat(90)}${headers["x-key"]}` })
      .end(),
  "/repeats-at-the-end": (response, { headers }) =>
    void response
      .writeHead(200, TEXT_TYPE)
      .end(`${"x".repeat(MAX_RESPONSE_BYTES - 10)}${headers["x-key"]}`),
  "/repeats-in-base64": (response, { headers }) =>
    void response
      .writeHead(200, TEXT_TYPE)
      .end(
        `${"-".repeat(MAX_RESPONSE_BYTES - 10)}${Buffer.from(String(headers["x-key"])).toString("base64")}`,
      ),
  "/endless": (response) => void flood(response.writeHead(200, TEXT_TYPE)),
  "/hangs": () => undefined,
  "/drips": (response) => void drip(response.writeHead(200, TEXT_TYPE)),
  "/cut": (response) => void response.destroy(),
  "/half": (response) => void sendHalf(response, 200),
  "/half-refused": (response) => void sendHalf(response, 403),
  "/half-failed": (response) => void sendHalf(response, 500),
  "/answers": (response, { url }) =>
    void response.writeHead(Number(url.split("?")[1]), { location: "/echo" }).end("so it is"),
};
const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };
const TEXT_TYPE = { "content-type": "text/plain" };

const CHUNK = "x".repeat(64 * 1024);
let sentBytes = 0;

/** Sends chunks until the client closes the connection. Counts the sent bytes. */
function flood(response: ServerResponse): void {
  while (!response.destroyed) {
    sentBytes += CHUNK.length;
    if (!response.write(CHUNK)) return void response.once("drain", () => flood(response));
  }
}

/** Sends a byte every 20 ms until the client closes the connection. */
function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write("."), 20);
  response.on("close", () => clearInterval(timer));
}

/** Closes the connection in the middle of the body. */
function sendHalf(response: ServerResponse, status: number): void {
  response.writeHead(status, { ...TEXT_TYPE, "content-length": 1_000 });
  response.write("the first half", () => response.destroy());
}

const guard = addressGuard({
  resolve: () => Promise.resolve(["93.184.216.34"]),
  allowedOrigins: ["http://127.0.0.1:*"],
  trustedOrigins: new Set(),
});
export const guardedNetwork = guardedFetch(guard, markedFetch(fetch));
export const SECRET = "s3cret/of+the=operator";

type AnsweringServer = {
  origin: () => string;
  /** Requests of the current test. */
  received: ReceivedRequest[];
  /** Bytes that `/endless` has sent in the current test. */
  sentBytes: () => number;
  /**
   * Calls the path with a tool. `overrides` and `context` replace parts of the definition and
   * context.
   */
  run: (
    path: string,
    overrides?: Partial<HttpToolDefinition>,
    context?: Partial<ToolContext>,
  ) => ReturnType<ReturnType<typeof httpTool>["run"]>;
};

/** Starts the server before the tests of a file, and closes it after them. */
export function useAnsweringServer(): AnsweringServer {
  const received: ReceivedRequest[] = [];
  let origin = "";
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => void parts.push(part));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const receivedRequest = { method, url, headers, body: Buffer.concat(parts).toString() };
      received.push(receivedRequest);
      answers[new URL(url, "http://x").pathname]?.(response, receivedRequest);
    });
  });
  // A test may block the process for seconds. The server must not close an idle connection at the
  // moment when the next request uses it.
  server.keepAliveTimeout = 60_000;
  beforeAll(async () => {
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const address = server.address() as AddressInfo;
    origin = `http://127.0.0.1:${address.port}`;
  });
  afterAll(() => void server.closeAllConnections());
  beforeEach(() => {
    received.splice(0);
    sentBytes = 0;
  });
  return {
    origin: () => origin,
    received,
    sentBytes: () => sentBytes,
    run: (path, overrides = {}, context = {}) =>
      httpTool(toolAt(origin + path, overrides), (name) =>
        name === "KEY" ? SECRET : undefined,
      ).run({}, contextWith(guardedNetwork, context)),
  };
}
