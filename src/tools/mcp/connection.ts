import { type CallToolResult, Client, StreamableHTTPClientTransport, type Tool as McpTool } from "@modelcontextprotocol/client";
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/client/validators/cf-worker";
import type { BoundedFetch } from "./bounded-fetch";
import { LONGEST_CALL_MS, MAX_PAGES } from "./limits";
import { oauthProvider, type OAuthOptions } from "./oauth";
import { CALL_KEY } from "./schema";
import type { McpServer } from "./server";

export type ConnectionOptions = {
  server: McpServer;
  out: BoundedFetch;
  oauth: Omit<OAuthOptions, "auth">;
  /** The server says that its tools have changed. */
  changed: () => void;
};

export type Call = {
  name: string;
  args: Record<string, unknown>;
  key: string;
  signal: AbortSignal;
  progress: (told: { progress: number; total?: number | undefined; message?: string | undefined }) => void;
  /** The definition that was pinned: what is sent and how the result is checked follows it, not what the server says now. */
  tool: McpTool;
};

/**
 * One connection with one server, in whichever generation of the protocol it speaks (2026-07-28, else 2025-11-25 and before). It
 * declares no ability to ask a person or a model anything, so a server that wants that is refused. Throws what the SDK throws.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #client: Client;
  readonly #transport: StreamableHTTPClientTransport;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { server, out, oauth, changed } = options;
    this.#client = new Client(
      { name: "massgen-edge", version: "1" },
      {
        capabilities: {},
        versionNegotiation: { mode: "auto" },
        jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
        inputRequired: { autoFulfill: false },
        listMaxPages: MAX_PAGES,
        listChanged: { tools: { autoRefresh: false, onChanged: changed } },
      },
    );
    // What comes out of turn (a second reply, one to a call that is over) concerns nobody.
    this.#client.onerror = () => undefined;
    this.#transport = new StreamableHTTPClientTransport(new URL(server.url), {
      fetch: out.fetch,
      ...(server.auth && { authProvider: oauthProvider({ ...oauth, auth: server.auth }) }),
    });
  }

  /** Which revision is spoken; null before the handshake. */
  get version(): string | null {
    return this.#client.getNegotiatedProtocolVersion() ?? null;
  }

  get hasSession(): boolean {
    return this.#transport.sessionId !== undefined;
  }

  async open(signal: AbortSignal): Promise<void> {
    await this.#client.connect(this.#transport, { timeout: this.#options.server.connectMs, signal });
  }

  /** All pages of the server's tools. */
  async list(signal: AbortSignal): Promise<McpTool[]> {
    this.#options.out.allowListing();
    const { connectMs } = this.#options.server;
    const { tools } = await this.#client.listTools({}, { timeout: connectMs, signal, cacheMode: "refresh" });
    return tools;
  }

  /** One try of one call. Whatever is still open of it when it ends is cut. */
  async call({ name, args, key, signal, progress, tool }: Call): Promise<CallToolResult> {
    const { server, out } = this.#options;
    const watch = out.watch(key);
    try {
      return await this.#client.callTool(
        { name, arguments: args, _meta: { [CALL_KEY]: key } },
        {
          signal: AbortSignal.any([signal, watch.failed]),
          timeout: server.callMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: LONGEST_CALL_MS,
          onprogress: progress,
          onresumptiontoken: watch.resumable,
          toolDefinition: tool,
          allowInputRequired: true,
        },
      );
    } catch (error) {
      throw watch.failed.aborted ? watch.failed.reason : error;
    } finally {
      watch.end();
    }
  }

  /** Ends the session with the server, as far as it can be told. */
  async close(): Promise<void> {
    await this.#transport.terminateSession().catch(() => undefined);
    await this.abandon();
  }

  /** Leaves without a word. */
  async abandon(): Promise<void> {
    await this.#client.close();
  }
}
