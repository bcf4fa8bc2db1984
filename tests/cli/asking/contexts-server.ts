import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { checkTeam } from "../../../src/config/parse-team";
import type { ContextManifest } from "../../../src/protocol/api/contexts";
import { FULL_CONTEXT } from "../../config/teams";

type Version = { id: string; files: ContextManifest["files"] };
/** A push as the server received it. */
export type Push = { name: string; base: string | null | undefined };

/** A server that stores contexts, refuses a push with another base, and checks teams. */
export class ContextsServer implements AsyncDisposable {
  readonly contexts = new Map<string, Version>();
  readonly pushes: Push[] = [];
  #versions = 0;
  readonly #server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const [, name = ""] = /^\/api\/contexts\/([\w-]+)/.exec(request.url ?? "") ?? [];
      const isCheck = request.url === "/api/configs/validate";
      const { status, value } = isCheck
        ? { status: 200, value: this.#check(body) }
        : this.#answer(name, request.method ?? "", body);
      const type = status < 400 ? "application/json" : "application/problem+json";
      response.writeHead(status, { "Content-Type": type }).end(JSON.stringify(value));
    });
  });

  static async start(): Promise<ContextsServer> {
    const server = new ContextsServer();
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

  #check(body: string): object {
    const { config, config_yaml = config } = JSON.parse(body);
    return checkTeam(config_yaml, { ...FULL_CONTEXT, contexts: this.contexts });
  }

  #answer(name: string, method: string, body: string): { status: number; value: object } {
    const current = this.contexts.get(name);
    if (method !== "PUT")
      return current
        ? { status: 200, value: { ...entryOf(name, current), tree: current.files } }
        : { status: 404, value: problem(404, "context_not_found") };
    const { files, base_version: base }: ContextManifest = JSON.parse(body);
    this.pushes.push({ name, base });
    if (base !== undefined && base !== (current?.id ?? null))
      return { status: 409, value: problem(409, "context_changed") };
    this.#versions += 1;
    const version = { id: String(this.#versions).padStart(26, "0"), files };
    this.contexts.set(name, version);
    const rest = { status: "committed", missing: [], skipped: [] };
    const links = { context: "", blobs: "" };
    return { status: 201, value: { ...entryOf(name, version), ...rest, links } };
  }
}

const problem = (status: number, code: string) => ({
  type: "about:blank",
  title: code,
  status,
  code,
});

const entryOf = (name: string, { id, files }: Version) => ({
  name,
  version: id,
  files: files.length,
  bytes: 1,
  created_at: 1,
  links: { context: "", archive: "" },
});
