import type { ServerResponse } from "node:http";
import * as z from "zod";
import { type ReceivedRequest, startRawServer } from "../raw-server";

/** A message from the client. */
export const MessageSchema = z.looseObject({
  method: z.string().optional(),
  id: z.union([z.string(), z.number()]).optional(),
  params: z.looseObject({}).optional(),
});
export type Message = z.infer<typeof MessageSchema>;

/** One request to a scripted server, and the response to write. */
export type ScriptedCall = {
  message: Message;
  response: ServerResponse;
  received: ReceivedRequest;
};

/** The behaviour of a scripted server. */
export type Script = {
  /** The result of `tools/list`: tools, or a function that writes the response. */
  tools?: unknown[] | ((asked: ScriptedCall) => void);
  /** Responds to `tools/call`. Omitted: the method is not supported. */
  call?: (asked: ScriptedCall) => void | Promise<void>;
  /** Called first for each request. Returns whether it has responded. */
  first?: (asked: ScriptedCall) => boolean;
  /** Responds to GET, the stream of messages from the server. Omitted: a 405. */
  stream?: (asked: ScriptedCall) => void;
  /** Session id that the server assigns. Omitted: the server has no sessions. */
  session?: string;
};

/** A tool that accepts any arguments. */
export const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: "object" },
  ...more,
});

/** Sends a JSON-RPC result. */
export const reply = (response: ServerResponse, id: unknown, result: unknown): void =>
  void response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id, result }));

/** A tool result that consists of text. */
export const text = (words: string) => ({ content: [{ type: "text", text: words }] });

/** One frame of an event stream. */
export const frame = (message: unknown): string =>
  `event: message\ndata: ${JSON.stringify(message)}\n\n`;

export const startStream = (response: ServerResponse): void =>
  void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();

/**
 * An MCP server with protocol 2025-11-25 that behaves as `script` defines. A test may change
 * `script` while the server runs.
 */
export async function scriptedServer(script: Script) {
  const raw = await startRawServer();
  raw.answer((response, received) => {
    const asked = { message: MessageSchema.parse(received.body ?? {}), response, received };
    if (script.first?.(asked)) return;
    const { method, id } = asked.message;
    if (received.method === "GET")
      return script.stream ? script.stream(asked) : void response.writeHead(405).end();
    if (received.method === "DELETE") return void response.writeHead(200).end();
    if (method === "initialize") return initialize(script, asked);
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/list") {
      const { tools = [] } = script;
      return typeof tools === "function" ? tools(asked) : reply(response, id, { tools });
    }
    if (method === "tools/call" && script.call) return script.call(asked);
    const error = { code: -32601, message: "Method not found" };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, error }));
  });
  const messages = (method: string) =>
    raw.received
      .map(({ body }) => MessageSchema.parse(body ?? {}))
      .filter((message) => message.method === method);
  return {
    url: `${raw.origin}/mcp`,
    script,
    received: raw.received,
    messages,
    close: () => raw.close(),
  };
}

function initialize({ session }: Script, { message: { id }, response }: ScriptedCall): void {
  if (session !== undefined) response.setHeader("mcp-session-id", session);
  reply(response, id, {
    protocolVersion: "2025-11-25",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "scripted", version: "1" },
  });
}

/**
 * Writes `chunk` again and again until the client closes the connection or `most` characters are
 * written. Returns the number of characters written.
 */
export async function flood(
  response: ServerResponse,
  chunk: string,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  response.on("close", resolve);
  response.on("error", resolve);
  let written = 0;
  while (!response.destroyed && written < most) {
    written += chunk.length;
    if (response.write(chunk)) continue;
    const drained = new Promise<void>((resolveDrain) => response.once("drain", resolveDrain));
    await Promise.race([drained, closed]);
  }
  return written;
}
