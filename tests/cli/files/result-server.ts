import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { zipSync } from "fflate";
import { hashOf } from "../../../cli/contexts/scan";

/** A result's files by path. The values are contents in Latin-1, so that they can be binary. */
export type Files = Readonly<Record<string, string>>;
export const bytesOf = (content: string): Buffer => Buffer.from(content, "latin1");

/** A server that has the routes for the files of one turn, in the form of the service. */
export class ResultServer implements AsyncDisposable {
  files: Files = {};
  /** Number of requests for contents that are answered before the server fails; `null`: all. */
  answersLeft: number | null = null;
  /** The turns of every session. */
  turns: readonly { turn: number; kind?: string }[] = [{ turn: 1 }];
  readonly requests: string[] = [];
  readonly #server = createServer((request, response) => {
    const address = decodeURIComponent(request.url ?? "");
    this.requests.push(address);
    if (/^\/api\/sessions\/[^/]+$/.test(address))
      return response.end(JSON.stringify({ turns: this.turns }));
    const path = /\/files\/([^?]+)/.exec(address)?.[1];
    if (path === undefined && !address.endsWith(".zip")) return response.end(this.#list());
    if (this.answersLeft === 0) return response.writeHead(500).end("{}");
    if (this.answersLeft !== null) this.answersLeft -= 1;
    if (path === undefined) return response.end(this.#zip());
    const content = this.files[path];
    return content === undefined
      ? response.writeHead(404).end("{}")
      : response.end(bytesOf(content));
  });

  static async start(): Promise<ResultServer> {
    const server = new ResultServer();
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #list(): string {
    const data = Object.entries(this.files)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, content]) => ({
        path,
        sha256: hashOf(bytesOf(content)),
        size: content.length,
      }));
    return JSON.stringify({ object: "list", label: "agent1.final", attempt: 1, data });
  }

  #zip(): Buffer {
    const entries = Object.entries(this.files).map(([path, content]) => [path, bytesOf(content)]);
    return Buffer.from(zipSync(Object.fromEntries(entries), { level: 0 }));
  }
}
