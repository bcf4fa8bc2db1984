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
import type { BoundedFetch, CallSlot } from "./bounded-fetch";
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

// The SDK logs messages of authorisation servers, and these may contain secrets. It also throws
// each error, so its log is not needed.
silence("[mcp-sdk]");

type ConnectionOptions = {
  server: McpServer;
  boundedFetch: BoundedFetch;
  oauth: Omit<OAuthOptions, "auth" | "url">;
  /** Called when the server announces that its tools have changed. */
  onToolsChanged: () => void;
};

export type Call = {
  /** Name of the tool, as the server calls it. */
  name: string;
  args: Record<string, unknown>;
  /** The idempotency key of the call. */
  key: string;
  signal: AbortSignal;
  onProgress: (update: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
  /**
   * Called when the server requests input during the call. The request has already been refused.
   */
  onInputRequest: (question: Question) => void;
  slot: CallSlot;
  /** Acquired if the reply is large; the caller releases it. */
  large: MutexLease;
  /** The pinned definition. The request uses this definition, not the server's current listing. */
  tool: McpTool;
};

/**
 * A connection to one server. It uses protocol revision 2026-07-28 if the server supports it,
 * otherwise 2025-11-25 or earlier. It declares no capability to ask a person or a model, so such
 * requests of the server are refused. Its methods throw the SDK's errors.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #client: Client;
  readonly #transport: StreamableHTTPClientTransport;
  /** Listeners for input requests of running calls, oldest first. */
  readonly #inputListeners = new Set<Call["onInputRequest"]>();
  #users = 0;
  /** `null` until `retire` is called. Resolved when the last user has finished. */
  #lastUserGone: PromiseWithResolvers<void> | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { server, boundedFetch, oauth, onToolsChanged } = options;
    this.#client = new Client(
      { name: "massgen-edge", version: "1" },
      {
        capabilities: {},
        versionNegotiation: { mode: "auto" },
        // This validator is not used, see `call`. Without this option, the SDK would choose a
        // validator that generates code from text, and the platform does not allow that.
        jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
        inputRequired: { autoFulfill: false },
        listMaxPages: MAX_PAGES,
        listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } },
      },
    );
    // An input request does not name its call. Only the oldest call gets the request, so that the
    // request is shown once.
    this.#client.fallbackRequestHandler = async (request) => {
      const question = readQuestion(request);
      const [oldestListener] = this.#inputListeners;
      if (question) oldestListener?.(question);
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
    };
    // Unexpected messages are ignored, such as a second reply, or a reply to a finished call.
    this.#client.onerror = () => undefined;
    this.#transport = new StreamableHTTPClientTransport(new URL(server.url), {
      fetch: boundedFetch.fetch,
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

  /** Connects to the server and negotiates the protocol revision. */
  async open(signal: AbortSignal): Promise<void> {
    await this.#client.connect(this.#transport, {
      timeout: this.#options.server.connectMs,
      signal,
    });
    const { onmessage } = this.#transport;
    this.#transport.onmessage = (message) => onmessage?.(withoutBrokenData(message));
  }

  /** Runs `work`. `retire` waits until `work` has finished. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await work();
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#lastUserGone?.resolve();
    }
  }

  /** Lists all tools of the server, from all pages. */
  async list(signal: AbortSignal): Promise<McpTool[]> {
    this.#options.boundedFetch.allowListing();
    const { connectMs } = this.#options.server;
    const { tools } = await this.#client.listTools(
      {},
      { timeout: connectMs, signal, cacheMode: "refresh" },
    );
    return tools;
  }

  /**
   * Makes one try of one call. At its end, its open requests are aborted. The result is not
   * validated against the output schema: the call has already taken effect, and a regular
   * expression from the server could run for an unlimited time.
   */
  async call({
    name,
    args,
    key,
    signal,
    onProgress,
    onInputRequest,
    slot,
    large,
    tool,
  }: Call): Promise<CallToolResult> {
    const { server, boundedFetch } = this.#options;
    const watch = boundedFetch.watch(key, { slot, large });
    const listener: Call["onInputRequest"] = (question) => onInputRequest(question);
    this.#inputListeners.add(listener);
    try {
      return await this.#client.callTool(
        { name, arguments: args, _meta: { [CALL_KEY]: key } },
        {
          signal: AbortSignal.any([signal, watch.failed]),
          timeout: server.callMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: LONGEST_CALL_MS,
          onprogress: onProgress,
          onresumptiontoken: watch.onResumable,
          toolDefinition: { name, inputSchema: tool.inputSchema },
          allowInputRequired: true,
        },
      );
    } catch (error) {
      throw watch.failed.aborted ? watch.failed.reason : error;
    } finally {
      this.#inputListeners.delete(listener);
      watch.end();
    }
  }

  /** Ends the session with the server if the server can be reached, and closes the connection. */
  async close(): Promise<void> {
    const terminated = this.#transport.terminateSession().catch(() => undefined);
    await Promise.race([terminated, sleep(CLOSE_LIMIT_MS)]);
    await this.abandon();
  }

  /**
   * Waits until all users have finished, then closes without notice to the server. Running calls
   * can still succeed; they have their own time limits. After `retire`, no new user may start.
   * Resolves when the connection is closed.
   */
  async retire(): Promise<void> {
    this.#lastUserGone ??= Promise.withResolvers();
    if (this.#users === 0) this.#lastUserGone.resolve();
    await this.#lastUserGone.promise;
    await this.abandon();
  }

  /** Closes without notice to the server, and aborts running calls. */
  async abandon(): Promise<void> {
    await this.#client.close();
  }
}
