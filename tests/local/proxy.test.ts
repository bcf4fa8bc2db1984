import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createProxy } from "../../local/proxy";

/** These tests run a service with one handler on a Unix socket, and the proxy in front of it. */
let dir = "";
let servers: Server[] = [];
let lines: string[] = [];

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), "proxy-"));
});
afterEach(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  servers = [];
  lines = [];
  rmSync(dir, { recursive: true });
});

type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
const socketPath = () => path.join(dir, "service");

async function proxyTo(handler: Handler | null): Promise<number> {
  if (handler) {
    const service = createServer(handler);
    // Like workerd, which requests a body only once the Worker reads it.
    service.on("checkContinue", handler);
    servers.push(service);
    service.listen(socketPath());
    await once(service, "listening");
  }
  const proxy = createProxy({
    socketPath: socketPath(),
    onRequestEnd: (line) => void lines.push(line),
  });
  servers.push(proxy);
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return (proxy.address() as AddressInfo).port;
}

const url = (port: number, target: string): string => `http://127.0.0.1:${port}${target}`;

describe("the proxy in front of npm start", () => {
  it("forwards method, path, headers and body, and returns status, headers and body", async () => {
    const port = await proxyTo(async (incoming, outgoing) => {
      outgoing.writeContinue();
      const body = await text(incoming);
      const { host, "x-mine": mine, "cf-connecting-ip": from } = incoming.headers;
      outgoing
        .writeHead(207, { "x-theirs": ["1", "2"] })
        .end(JSON.stringify([incoming.method, incoming.url, host, mine, from, body]));
    });
    const headers = { "x-mine": "1", "cf-connecting-ip": "9.9.9.9" };
    const response = await fetch(url(port, "/a?b=%20c"), {
      method: "PATCH",
      headers,
      body: "x".repeat(200_000),
    });
    expect([response.status, response.headers.get("x-theirs")]).toEqual([207, "1, 2"]);
    const expected = [
      "PATCH",
      "/a?b=%20c",
      `127.0.0.1:${port}`,
      "1",
      "127.0.0.1",
      "x".repeat(200_000),
    ];
    expect(await response.json()).toEqual(expected);
    await expect.poll(() => lines).toEqual([expect.stringMatching(/^PATCH \/a 207 \(\d+ ms\)$/)]);
  });

  it("forwards each chunk on arrival, in both directions", async () => {
    const port = await proxyTo((incoming, outgoing) => {
      outgoing.writeContinue();
      outgoing.writeHead(200);
      outgoing.flushHeaders();
      incoming.on("data", (piece: Buffer) => outgoing.write(`got ${piece}`));
      incoming.on("end", () => outgoing.end());
    });
    const client = request(url(port, "/echo"), {
      method: "POST",
      headers: { "transfer-encoding": "chunked" },
    });
    client.flushHeaders();
    client.write("one");
    const [response] = (await once(client, "response")) as [IncomingMessage];
    response.setEncoding("utf8");
    expect(await once(response, "data")).toEqual(["got one"]);
    client.write("two");
    expect(await once(response, "data")).toEqual(["got two"]);
    client.end();
    await once(response, "end");
  });

  it("ends the service's request when the client disconnects", async () => {
    const requestClosed = Promise.withResolvers<void>();
    const port = await proxyTo((_incoming, outgoing) => {
      outgoing.writeHead(200).write("event: first\n\n");
      outgoing.on("close", () => requestClosed.resolve());
    });
    const controller = new AbortController();
    const response = await fetch(url(port, "/events"), { signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    await requestClosed.promise;
  });

  it("breaks off a response that the service breaks off", async () => {
    const port = await proxyTo((_incoming, outgoing) => {
      outgoing.writeHead(200).write("half", () => outgoing.destroy());
    });
    const response = await fetch(url(port, "/cut"));
    await expect(response.text()).rejects.toThrow();
  });

  it("returns the response of a service that refuses an unread large body", async () => {
    const port = await proxyTo(
      (_incoming, outgoing) => void outgoing.writeHead(413).end("too large"),
    );
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const response = await fetch(url(port, "/upload"), {
        method: "PUT",
        body: "x".repeat(4_000_000),
      });
      expect([response.status, await response.text()]).toEqual([413, "too large"]);
    }
  });

  it("reports that the service is starting while its socket is missing", async () => {
    const port = await proxyTo(null);
    const response = await fetch(url(port, "/healthz"));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await response.json()).toMatchObject({ code: "service_starting", status: 503 });
  });

  it("never forwards a refused request (H1, H2)", async () => {
    let forwardedRequests = 0;
    const port = await proxyTo((_incoming, outgoing) => {
      forwardedRequests += 1;
      outgoing.end();
    });
    const status = async (target: string, headers: Record<string, string>) => {
      const client = request(url(port, target), { headers, agent: new Agent() });
      client.end();
      const [response] = (await once(client, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    expect(await status("/api/sessions", { host: "evil.example" })).toBe(421);
    expect(await status("/cdn-cgi/local/scheduled", {})).toBe(404);
    expect(forwardedRequests).toBe(0);
  });

  it("forwards a WebSocket upgrade and its bytes, and refuses an upgrade for another host name", async () => {
    const port = await proxyTo(null);
    const service = createServer();
    service.on("upgrade", (incoming: IncomingMessage, socket, head: Buffer) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n${incoming.url} ${head}`,
      );
      socket.on("data", (piece: Buffer) => socket.write(`echo ${piece}`));
    });
    servers.push(service);
    service.listen(socketPath());
    await once(service, "listening");
    const upgrade = async (host: string) => {
      const client = connect(port, "127.0.0.1").setEncoding("utf8");
      let received = "";
      client.on("data", (piece: string) => {
        received += piece;
      });
      client.write(
        `GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      );
      await expect.poll(() => received).toMatch(/\r\n\r\n/);
      client.write("hello");
      return { client, received: () => received };
    };
    const accepted = await upgrade("localhost");
    await expect.poll(accepted.received).toContain("echo hello");
    expect(accepted.received()).toMatch(/^HTTP\/1\.1 101 [\s\S]*\/ws /);
    const refused = await upgrade("evil.example");
    expect(refused.received()).toMatch(/^HTTP\/1\.1 421 /);
    accepted.client.destroy();
    refused.client.destroy();
  });
});
