import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/**
 * A hostile server on this machine: records all requests, and redirects them if it has a target.
 */
export class Stranger {
  /** A line for each request, with its body. */
  readonly heard: string[] = [];
  sendsOnTo: string | null = null;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      this.heard.push(`${request.method} ${request.url} ${await text(request)}`);
      if (this.sendsOnTo === null) response.writeHead(500).end();
      else response.writeHead(307, { location: this.sendsOnTo }).end();
    });
  }

  static async start(): Promise<Stranger> {
    const stranger = new Stranger();
    await new Promise<void>((resolve) => stranger.#server.listen(0, "127.0.0.1", resolve));
    return stranger;
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
