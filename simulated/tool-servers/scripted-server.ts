import type { ServerResponse } from "node:http";
import { z } from "zod";
import { type ReceivedRequest, startRawServer } from "../raw-server";

/** A message from the client. */
export const MessageSchema = z.looseObject({
  method: z.string().optional(),
  id: z.union([z.string(), z.number()]).optional(),
  params: z.looseObject({}).optional(),
});
export type Message = z.infer<typeof MessageSchema>;

export type ScriptedCall = {
  message: Message;
  response: ServerResponse;
  received: ReceivedRequest;
};

export type Script = {
  /** The result of `tools/list`: tools, or a function that writes the response. */
  tools?: unknown[] | ((asked: ScriptedCall) => void);
  call?: (asked: ScriptedCall) => void | Promise<void>;
  /** Called before all else; returns true if it has responded. */
  first?: (asked: ScriptedCall) => boolean;
  /** The server's own stream; omitted if it has none. */
  stream?: (asked: ScriptedCall) => void;
  session?: string;
};

/** A tool that accepts any arguments. */
export const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: "object" },
  ...more,
});

export const reply = (response: ServerResponse, id: unknown, result: unknown): void =>
  void response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id, result }));

export const text = (words: string) => ({ content: [{ type: "text", text: words }] });

/** One frame of an event stream. */
export const frame = (message: unknown): string =>
  `event: message\ndata: ${JSON.stringify(message)}\n\n`;

export const startStream = (response: ServerResponse): void =>
  void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();

/**
 * A server of the 2025-11-25 generation that follows a test's script. `script` may change while it
 * runs.
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
      .filter((one) => one.method === method);
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

/** Writes without end until the client leaves; returns the number of bytes sent. */
export async function flood(
  response: ServerResponse,
  chunk: string,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  const { promise: left, resolve } = Promise.withResolvers<void>();
  response.on("close", resolve);
  response.on("error", resolve);
  let written = 0;
  while (!response.destroyed && written < most) {
    written += chunk.length;
    if (response.write(chunk)) continue;
    const drained = new Promise<void>((resolveDrain) => response.once("drain", resolveDrain));
    await Promise.race([drained, left]);
  }
  return written;
}
