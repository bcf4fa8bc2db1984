import {
  type CallToolResult,
  Client,
  ProtocolError,
  ProtocolErrorCode,
  StreamableHTTPClientTransport,
  type Tool as McpTool,
} from "@modelcontextprotocol/client";
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/client/validators/cf-worker";
import { silence } from "../../redaction/log";
import type { BoundedFetch } from "./bounded-fetch";
import {
  CLOSE_LIMIT_MS,
  LONGEST_CALL_MS,
  LONGEST_RESUME_MS,
  MAX_PAGES,
  RESUME_MS,
  RESUME_TRIES,
} from "./server-limits";
import { oauthProvider, type OAuthOptions } from "./oauth";
import { CALL_KEY, type Question, readQuestion, withoutBrokenData } from "./schema";
import type { McpServer } from "./server";
import type { MutexLease } from "../../async/mutex";
import { sleep } from "../../async/sleep";

// The SDK logs messages of authorisation servers, which may contain secrets. Errors are thrown as
// well.
silence("[mcp-sdk]");

type ConnectionOptions = {
  server: McpServer;
  out: BoundedFetch;
  oauth: Omit<OAuthOptions, "auth" | "url">;
  /** Called when the server announces that its tools have changed. */
  changed: () => void;
};

export type Call = {
  name: string;
  args: Record<string, unknown>;
  key: string;
  signal: AbortSignal;
  progress: (update: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
  /** Called when the server requested input during the call; the request was refused. */
  asked: (question: Question) => void;
  onHeaders: (() => void) | undefined;
  /** Acquired if the reply is large; the caller releases it. */
  large: MutexLease;
  /** The pinned definition. The request follows it, not the server's current listing. */
  tool: McpTool;
};

/**
 * A connection to one server, in the protocol generation it supports (2026-07-28, else 2025-11-25
 * and earlier). Declares no capability to ask a person or a model, so such requests are refused.
 * Throws the SDK's errors.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #client: Client;
  readonly #transport: StreamableHTTPClientTransport;
  /** Listeners for input requests of running calls, oldest first. */
  readonly #asking = new Set<Call["asked"]>();
  #users = 0;
  /** Set by `retire`; resolved when the last user has finished. */
  #left: PromiseWithResolvers<void> | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { server, out, oauth, changed } = options;
    this.#client = new Client(
      { name: "massgen-edge", version: "1" },
      {
        capabilities: {},
        versionNegotiation: { mode: "auto" },
        // Never used, see `call`. Without it, the SDK would choose a validator that generates code
        // from text.
        jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
        inputRequired: { autoFulfill: false },
        listMaxPages: MAX_PAGES,
        listChanged: { tools: { autoRefresh: false, onChanged: changed } },
      },
    );
    // An input request does not name its call. Reports it to the oldest call, so that it is shown
    // once.
    this.#client.fallbackRequestHandler = async (request) => {
      const question = readQuestion(request);
      const [asked] = this.#asking;
      if (question) asked?.(question);
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
    };
    // Ignores unexpected messages, such as a second reply or one for a finished call.
    this.#client.onerror = () => undefined;
    this.#transport = new StreamableHTTPClientTransport(new URL(server.url), {
      fetch: out.fetch,
      reconnectionOptions: {
        maxRetries: RESUME_TRIES,
        initialReconnectionDelay: RESUME_MS,
        maxReconnectionDelay: LONGEST_RESUME_MS,
        reconnectionDelayGrowFactor: 2,
      },
      ...(server.auth && {
        authProvider: oauthProvider({ ...oauth, auth: server.auth, url: server.url }),
      }),
    });
  }

  /** The negotiated protocol revision; `null` before the handshake. */
  get version(): string | null {
    return this.#client.getNegotiatedProtocolVersion() ?? null;
  }

  get hasSession(): boolean {
    return this.#transport.sessionId !== undefined;
  }

  async open(signal: AbortSignal): Promise<void> {
    await this.#client.connect(this.#transport, {
      timeout: this.#options.server.connectMs,
      signal,
    });
    const { onmessage } = this.#transport;
    this.#transport.onmessage = (message) => onmessage?.(withoutBrokenData(message));
  }

  /** Runs `work`; `retire` waits until it has finished. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await work();
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#left?.resolve();
    }
  }

  /** All tools of the server, from all pages. */
  async list(signal: AbortSignal): Promise<McpTool[]> {
    this.#options.out.allowListing();
    const { connectMs } = this.#options.server;
    const { tools } = await this.#client.listTools(
      {},
      { timeout: connectMs, signal, cacheMode: "refresh" },
    );
    return tools;
  }

  /**
   * One try of one call; open requests are aborted at its end. The result is not validated against
   * the output schema: the call has been made anyway, and a server's pattern could run here for an
   * unbounded time.
   */
  async call({
    name,
    args,
    key,
    signal,
    progress,
    asked,
    onHeaders,
    large,
    tool,
  }: Call): Promise<CallToolResult> {
    const { server, out } = this.#options;
    const watch = out.watch(key, { onHeaders, large });
    const listener: Call["asked"] = (question) => asked(question);
    this.#asking.add(listener);
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
          toolDefinition: { name, inputSchema: tool.inputSchema },
          allowInputRequired: true,
        },
      );
    } catch (error) {
      throw watch.failed.aborted ? watch.failed.reason : error;
    } finally {
      this.#asking.delete(listener);
      watch.end();
    }
  }

  /** Ends the session with the server, if the server can be reached. */
  async close(): Promise<void> {
    const terminated = this.#transport.terminateSession().catch(() => undefined);
    await Promise.race([terminated, sleep(CLOSE_LIMIT_MS)]);
    await this.abandon();
  }

  /**
   * Closes without notice once all users have finished: running calls may still succeed, and have
   * their own limits. No new user may start afterwards. Resolves when closed.
   */
  async retire(): Promise<void> {
    this.#left ??= Promise.withResolvers();
    if (this.#users === 0) this.#left.resolve();
    await this.#left.promise;
    await this.abandon();
  }

  /** Closes without notice and aborts running calls. */
  async abandon(): Promise<void> {
    await this.#client.close();
  }
}
