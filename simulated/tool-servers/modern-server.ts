import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  McpServer,
} from "@modelcontextprotocol/server";

// Each schema is one object: the SDK creates a server for each request and caches a compiled schema
// for each schema object, without a limit.
const SUM = fromJsonSchema<{ a: number; b: number }>({
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
});
const TOTAL = fromJsonSchema<{ total: number }>({
  type: "object",
  properties: { total: { type: "number" } },
  required: ["total"],
});
const ANYTHING = fromJsonSchema({ type: "object" });

/**
 * An MCP server that uses the official SDK. It supports protocol 2026-07-28. With `legacy` it also
 * supports 2025-11-25.
 */
export async function modernServer({ legacy }: { legacy: boolean }) {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: "modern", version: "1" });
      server.registerTool(
        "add",
        {
          description: "Adds.",
          inputSchema: SUM,
          outputSchema: TOTAL,
        },
        ({ a, b }) => ({
          content: [{ type: "text", text: `${a + b}` }],
          structuredContent: { total: a + b },
        }),
      );
      server.registerTool("recite", { description: "Says much.", inputSchema: ANYTHING }, () => ({
        content: [{ type: "text", text: "Water boils at 100 °C. ".repeat(8_000) }],
      }));
      server.registerTool(
        "ask",
        { description: "Asks a person first.", inputSchema: ANYTHING },
        () =>
          inputRequired({
            inputRequests: {
              one: inputRequired.elicit({
                message: "Your password?",
                requestedSchema: { type: "object", properties: { password: { type: "string" } } },
              }),
            },
          }),
      );
      return server;
    },
    { legacy: legacy ? "stateless" : "reject" },
  );
  const server = createServer(
    (request, response) =>
      void pass(request, response, (fetchRequest) => handler.fetch(fetchRequest)),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Converts between the requests of Node.js and the `fetch` interface of the SDK. */
async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] satisfies [string, string]] : [],
  );
  const url = `http://127.0.0.1${request.url ?? ""}`;
  const {
    status,
    headers: responseHeaders,
    body,
  } = await answer(
    new Request(url, {
      method: request.method ?? "GET",
      headers,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    }),
  );
  response.writeHead(status, Object.fromEntries(responseHeaders));
  for await (const chunk of body ?? []) response.write(chunk);
  response.end();
}
