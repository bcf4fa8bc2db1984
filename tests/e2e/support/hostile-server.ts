import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/**
 * A hostile server on this machine. It records all requests. It redirects them if it has a target.
 */
export class HostileServer {
  /** One line for each request: method, path and body. */
  readonly requests: string[] = [];
  /** Target of redirects; `null`: each request gets a 500. */
  redirectTo: string | null = null;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      this.requests.push(`${request.method} ${request.url} ${await text(request)}`);
      if (this.redirectTo === null) response.writeHead(500).end();
      else response.writeHead(307, { location: this.redirectTo }).end();
    });
  }

  static async start(): Promise<HostileServer> {
    const hostileServer = new HostileServer();
    await new Promise<void>((resolve) => hostileServer.#server.listen(0, "127.0.0.1", resolve));
    return hostileServer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
