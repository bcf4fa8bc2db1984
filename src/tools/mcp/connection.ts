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
  GOODBYE_MS,
  LONGEST_CALL_MS,
  LONGEST_RESUME_MS,
  MAX_PAGES,
  RESUME_MS,
  RESUME_TRIES,
} from "./limits";
import { oauthProvider, type OAuthOptions } from "./oauth";
import { CALL_KEY, type Question, readQuestion, withoutBrokenData } from "./schema";
import type { McpServer } from "./server";
import type { MutexLease } from "../../async/mutex";
import { sleep } from "../../async/sleep";

// The SDK warns of what authorisation servers say, who may repeat secrets; what went wrong is thrown besides.
silence("[mcp-sdk]");

export type ConnectionOptions = {
  server: McpServer;
  out: BoundedFetch;
  oauth: Omit<OAuthOptions, "auth" | "url">;
  /** The server says that its tools have changed. */
  changed: () => void;
};

export type Call = {
  name: string;
  args: Record<string, unknown>;
  key: string;
  signal: AbortSignal;
  progress: (told: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
  /** The server has asked for something while the call ran, and was refused. */
  asked: (question: Question) => void;
  headersCame: (() => void) | undefined;
  /** Acquired when the reply turns out to be large; not released here. */
  large: MutexLease;
  /** The definition that was pinned: what is sent follows it, not what the server says now. */
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
  /** Calls under way, by what is told of the server's questions, oldest first. */
  readonly #asking = new Set<Call["asked"]>();
  #users = 0;
  /** Set by `retire`: told when the last user is gone. */
  #left: PromiseWithResolvers<void> | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { server, out, oauth, changed } = options;
    this.#client = new Client(
      { name: "massgen-edge", version: "1" },
      {
        capabilities: {},
        versionNegotiation: { mode: "auto" },
        // Never asked, see `call`; without it the SDK would take one that makes code from text where it can.
        jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
        inputRequired: { autoFulfill: false },
        listMaxPages: MAX_PAGES,
        listChanged: { tools: { autoRefresh: false, onChanged: changed } },
      },
    );
    // A question does not say which call it is for: the oldest is taken, so that it is shown once.
    this.#client.fallbackRequestHandler = async (request) => {
      const question = readQuestion(request);
      const [asked] = this.#asking;
      if (question) asked?.(question);
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
    };
    // What comes out of turn (a second reply, one to a call that is over) concerns nobody.
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

  /** Which revision is spoken; null before the handshake. */
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

  /** Works with it; as long as that goes on, `retire` does not close it. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await work();
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#left?.resolve();
    }
  }

  /** All pages of the server's tools. */
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
   * One try of one call. Whatever is still open of it when it ends is cut. The result is held against no schema: the call was made,
   * whatever form its result has, and a pattern of the server's would run here for as long as the server likes.
   */
  async call({
    name,
    args,
    key,
    signal,
    progress,
    asked,
    headersCame,
    large,
    tool,
  }: Call): Promise<CallToolResult> {
    const { server, out } = this.#options;
    const watch = out.watch(key, { headersCame, large });
    const told: Call["asked"] = (question) => asked(question);
    this.#asking.add(told);
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
      this.#asking.delete(told);
      watch.end();
    }
  }

  /** Ends the session with the server, as far as it can be told. */
  async close(): Promise<void> {
    const told = this.#transport.terminateSession().catch(() => undefined);
    await Promise.race([told, sleep(GOODBYE_MS)]);
    await this.abandon();
  }

  /**
   * Leaves without a word as soon as nobody works with it any more: what is under way may still end well, and has limits of its own.
   * Nobody begins to use it afterwards. Resolves when it is closed.
   */
  async retire(): Promise<void> {
    this.#left ??= Promise.withResolvers();
    if (this.#users === 0) this.#left.resolve();
    await this.#left.promise;
    await this.abandon();
  }

  /** Leaves without a word; what is under way is cut. */
  async abandon(): Promise<void> {
    await this.#client.close();
  }
}
