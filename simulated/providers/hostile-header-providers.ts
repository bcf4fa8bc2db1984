import { once } from "node:events";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";

/** Headers that could harm a browser if the service forwarded them from a provider's reply. */
export const HOSTILE_HEADERS = {
  "set-cookie": ["session=hostile; Path=/", "__Host-id=hostile; Path=/; Secure"],
  refresh: "0; url=http://169.254.169.254/",
  link: "<http://169.254.169.254/>; rel=preload",
  "clear-site-data": '"*"',
};
const PADDING_CHARS = 4_000;

/**
 * Starts a proxy that adds hostile headers to the replies of the providers at `behind`. The first
 * part of a path is the number of additional headers of 4,000 characters: `/20/v1/…` adds 20. A
 * request with a cookie gets a 400. `/pages/N` is a page of N letters.
 */
export async function startHostileHeaderProviders(
  behind: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const [, letters] = /^\/pages\/(\d+)$/.exec(request.url ?? "") ?? [];
    if (letters !== undefined)
      return void response
        .writeHead(200, { "content-type": "text/plain" })
        .end("p".repeat(Number(letters)));
    const [, headerCount = "0", path = ""] = /^\/(\d+)(\/.*)$/.exec(request.url ?? "") ?? [];
    if (request.headers.cookie !== undefined)
      return void response.writeHead(400).end("a cookie came back");
    const {
      host: _,
      connection: __,
      "transfer-encoding": ___,
      "content-length": ____,
      ...headers
    } = request.headers;
    const forwardedHeaders = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as const] : [],
    );
    const answer = await fetch(behind + path, {
      method: "POST",
      headers: forwardedHeaders,
      body: Uint8Array.from(await buffer(request)),
    });
    const padding = Array.from(
      { length: Number(headerCount) },
      (_, nth) => [`x-padding-${nth}`, "x".repeat(PADDING_CHARS)] as const,
    );
    const type = answer.headers.get("content-type") ?? "text/plain";
    response.writeHead(answer.status, {
      ...HOSTILE_HEADERS,
      ...Object.fromEntries(padding),
      "content-type": type,
    });
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
