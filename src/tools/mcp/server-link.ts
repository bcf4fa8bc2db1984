import type { CallToolResult } from "@modelcontextprotocol/client";
import type { InputRequired } from "../../protocol/events/tool";
import {
  admitRequest,
  afterFailure,
  afterInconclusive,
  afterSuccess,
  type Breaker,
  breakerMessage,
  CLOSED,
} from "../breaker";
import type { ToolContext, ToolResult } from "../tool";
import { BoundedFetch, CallSlot } from "./bounded-fetch";
import { clientPart } from "./client";
import type { Connection } from "./connection";
import type { McpEnvironment } from "./environment";
import { isTimeout, type McpFailure, nextTry } from "./failures";
import { inputRequired, inputResult } from "./input-required";
import { hashTool, judgeListing, type Listing, type OfferedTool, refuseLeaks } from "./offer";
import { MAX_ERROR_CHARS, MAX_PROGRESS_CHARS } from "./server-limits";
import type { Pins } from "./pins";
import { readResult } from "./results";
import type { RenewedTokens } from "./renewed-tokens";
import { InputRequiredSchema, type Question, readElicitations } from "./schema";
import { SentSecrets, ServerSecrets } from "./server-secrets";
import type { McpServer } from "./server";
import { cutText, escapeInvisible } from "./shown-text";
import { timeLimit, withoutStack } from "../../async/abort";
import { type Mutex, MutexLease } from "../../async/mutex";
import { SharedWork } from "../../async/shared-work";
import { sleep } from "../../async/sleep";
import { MAX_STORING_MS } from "../large-results";

const SESSION_HAS_LEFT = withoutStack(() => new Error("the session has left its tool servers"));

type LinkOptions = {
  server: McpServer;
  env: McpEnvironment;
  pins: Pins;
  /** Serializes large replies. */
  large: Mutex;
  tokens: RenewedTokens;
  /** Called after each listing, when its tools are checked. */
  onListed: (link: ServerLink) => void;
};

/** One server during a session: its connection, which may be reopened, breaker, pins and tools. */
export class ServerLink {
  readonly server: McpServer;
  readonly #options: LinkOptions;
  #connection: Connection | null = null;
  #opening: SharedWork<Connection> | null = null;
  /** Connections for running calls only. New calls use another connection. */
  readonly #retired = new Set<Connection>();
  /** Incidents that the breaker has counted. One incident can fail many calls, but counts once. */
  readonly #countedIncidents = new WeakSet<object>();
  readonly #secrets = new SentSecrets();
  #breaker: Breaker = CLOSED;
  #listing: Listing;
  /** The current listing, in progress or done; `null` if the next call must list again. */
  #currentListing: SharedWork<void> | null = null;
  #problem: string | null = null;
  #version: string | null = null;
  /** The refresh in progress; `null` if there is none. */
  #refreshing: SharedWork<void> | null = null;
  readonly #closed = new AbortController();

  constructor(options: LinkOptions) {
    this.server = options.server;
    this.#options = options;
    this.#listing = { offered: [], refused: [], pins: options.pins, added: [], more: 0 };
  }

  get listing(): Listing {
    return this.#listing;
  }

  /** Why the server cannot be used now, as a sentence; `null` if it can be used. */
  get problem(): string | null {
    return this.#problem;
  }

  /** The negotiated protocol revision; `null` before the first connection. */
  get version(): string | null {
    return this.#version;
  }

  /** Connects if necessary and lists the tools again. Concurrent callers share one refresh. */
  async refresh(signal: AbortSignal): Promise<void> {
    this.#refreshing ??= new SharedWork(
      (aborted) => this.#refresh(aborted),
      () => {
        this.#refreshing = null;
      },
    );
    await this.#refreshing.join(signal);
  }

  async #refresh(aborted: AbortSignal): Promise<void> {
    const admission = admitRequest(this.#breaker, this.#options.env.now());
    if (!admission.ok) return;
    this.#breaker = admission.breaker;
    this.invalidateListing();
    const { signal, end } = timeLimit(this.server.connectMs, [this.#closed.signal, aborted]);
    const done = await this.#attempt(signal, async () => undefined).finally(end);
    if (aborted.aborted) return;
    this.#problem = "failure" in done ? this.#sentence(done.failure) : null;
  }

  /** The next call or refresh must list the tools again. */
  invalidateListing(): void {
    this.#currentListing = null;
  }

  /** Runs a tool. An error is a result for the model. Throws only the signal's reason. */
  async call(
    tool: OfferedTool,
    args: Record<string, unknown>,
    context: ToolContext,
    idempotent: boolean,
  ): Promise<ToolResult> {
    const slot = new CallSlot(context);
    for (let tries = 1; ; tries++) {
      context.signal.throwIfAborted();
      const admission = admitRequest(this.#breaker, context.now());
      if (!admission.ok)
        return { outcome: "error", text: this.#breakerMessage(admission.retryAt - context.now()) };
      this.#breaker = admission.breaker;
      const done = await this.#attempt(context.signal, (connection) =>
        this.#callOnce(connection, tool, args, { ...context, slot }),
      );
      context.signal.throwIfAborted();
      if ("value" in done) return done.value;
      const retry = nextTry(done.failure, tries, idempotent);
      if (!retry) return this.#toResult(done.failure, idempotent);
      await sleep(retry.afterMs, context.signal);
    }
  }

  /** Ends the session with the server and aborts running calls. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    this.#closed.abort(SESSION_HAS_LEFT);
    const closedRetired = [...this.#retired].map((retired) => retired.abandon());
    await Promise.allSettled([connection?.close(), ...closedRetired]);
  }

  /**
   * Connects and lists if necessary, then runs `use` once. The outcome updates the breaker. An
   * error is returned as a failure.
   */
  async #attempt<T>(
    signal: AbortSignal,
    use: (connection: Connection) => Promise<T>,
  ): Promise<{ value: T } | { failure: McpFailure }> {
    const { toFailure } = await clientPart();
    let connection: Connection | null = null;
    try {
      const used = await this.#connect(signal);
      connection = used;
      const value = await used.use(async () => {
        await this.#listingOver(used).join(signal);
        return use(used);
      });
      this.#breaker = afterSuccess();
      return { value };
    } catch (error) {
      const failure = toFailure(error, connection?.hasSession ?? false);
      const isAborted = signal.aborted && !isTimeout(signal.reason);
      if (isAborted) this.#breaker = afterInconclusive(this.#breaker);
      else this.#updateBreaker(failure, connection ?? error);
      if (!isAborted && connection && (failure.isServerFault || failure.isSessionLost))
        this.#retire(connection);
      return { failure };
    }
  }

  /**
   * Updates the breaker after a failure. `incident` is the connection or error; calls that fail for
   * the same cause share it, and the breaker counts it once.
   */
  #updateBreaker({ isServerFault }: McpFailure, incident: unknown): void {
    const incidentKey = typeof incident === "object" && incident !== null ? incident : {};
    if (!isServerFault) this.#breaker = afterSuccess();
    else if (this.#countedIncidents.has(incidentKey))
      this.#breaker = afterInconclusive(this.#breaker);
    else this.#breaker = afterFailure(this.#breaker, this.#options.env.now());
    if (isServerFault) this.#countedIncidents.add(incidentKey);
  }

  /** Excludes a connection from new calls. Running calls continue. */
  #retire(connection: Connection): void {
    if (this.#connection === connection) {
      this.#connection = null;
      this.invalidateListing(); // the next connection may reach another version of the server
    }
    if (this.#retired.has(connection)) return;
    this.#retired.add(connection);
    const closed = connection.retire().catch(() => undefined);
    void closed.finally(() => this.#retired.delete(connection));
  }

  /** Returns the connection, opened if necessary. Concurrent callers share its opening. */
  #connect(signal: AbortSignal): Promise<Connection> {
    if (this.#connection) return Promise.resolve(this.#connection);
    this.#opening ??= new SharedWork(
      (aborted) => this.#open(AbortSignal.any([this.#closed.signal, aborted])),
      () => {
        this.#opening = null;
      },
    );
    return this.#opening.join(signal);
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const { server, env } = this.#options;
    const secrets = new ServerSecrets({
      server,
      env,
      onSecret: (secret) => this.#registerSecret(secret),
    });
    const { headers, checkCredentials, secretOf } = secrets;
    await headers("POST"); // throws if a secret is missing, before a request is sent
    const { Connection } = await clientPart();
    const connection = new Connection({
      server,
      boundedFetch: new BoundedFetch({
        ...{ url: new URL(server.url).href, headers, checkCredentials },
        ...{ fetch: env.fetch, ...(env.fetchOver && { fetchOver: env.fetchOver }) },
        ...{ secrets: this.#secrets, enter: env.enter },
      }),
      oauth: {
        secretOf,
        refusal: () => secrets.refusal,
        renewed: this.#options.tokens,
        onTokens: ({ access_token, refresh_token, id_token }) => {
          for (const token of [access_token, refresh_token, id_token])
            this.#registerSecret(token ?? "");
        },
      },
      onToolsChanged: () => this.invalidateListing(),
    });
    try {
      await connection.open(signal);
      signal.throwIfAborted();
    } catch (error) {
      await connection.abandon().catch(() => undefined);
      throw error;
    }
    this.#connection = connection;
    this.#version = connection.version;
    return connection;
  }

  /** The current listing, begun if necessary. Concurrent callers share one `tools/list` request. */
  #listingOver(connection: Connection): SharedWork<void> {
    if (this.#currentListing !== null) return this.#currentListing;
    const listing: SharedWork<void> = new SharedWork(
      (aborted) =>
        this.#list(connection, aborted, () =>
          this.#currentListing === listing ? null : this.#currentListing,
        ),
      (hasResult) => {
        if (!hasResult && this.#currentListing === listing) this.#currentListing = null;
      },
    );
    this.#currentListing = listing;
    return listing;
  }

  /**
   * Lists and checks the tools. `newerListing` returns a listing that was started later and takes
   * precedence, or `null` if there is none.
   */
  async #list(
    connection: Connection,
    aborted: AbortSignal,
    newerListing: () => SharedWork<void> | null,
  ): Promise<void> {
    const tools = await connection.list(AbortSignal.any([this.#closed.signal, aborted]));
    const { safe, refused } = await refuseLeaks(this.server.name, tools, this.#secrets);
    const hashedTools = await Promise.all(safe.map((tool) => hashTool(this.server.name, tool)));
    const newer = newerListing();
    if (newer !== null) return newer.join(aborted);
    const listing = judgeListing(this.server, hashedTools, this.#listing.pins);
    this.#listing = { ...listing, refused: [...refused, ...listing.refused] };
    this.#problem = null; // before `onListed`, which reads `problem`
    this.#options.onListed(this);
  }

  async #callOnce(
    connection: Connection,
    tool: OfferedTool,
    args: Record<string, unknown>,
    context: ToolContext & { slot: CallSlot },
  ): Promise<ToolResult> {
    const disabledReason = this.#disabledReason(tool);
    if (disabledReason !== null)
      return {
        outcome: "error",
        text: `The tool \`${tool.name}\` is switched off: ${disabledReason}. Go on without it.`,
      };
    const large = new MutexLease(this.#options.large);
    const call = connection.call({
      name: tool.bareName,
      args,
      key: context.idempotencyKey,
      signal: context.signal,
      slot: context.slot,
      large,
      tool: tool.tool,
      onProgress: ({ progress, total, message }) =>
        context.notify?.({
          type: "progress",
          origin: new URL(this.server.url).origin,
          progress,
          total: total ?? null,
          message:
            message === undefined
              ? null
              : cutText(this.#clean(escapeInvisible(message)), MAX_PROGRESS_CHARS),
        }),
      onInputRequest: (question) => this.#forwardQuestions([question], context),
    });
    try {
      const result = this.#readReply(await call, context);
      large.releaseOnEnd(context.onResultStored, MAX_STORING_MS);
      return result;
    } catch (error) {
      large.release();
      const { UrlElicitationRequiredError } = await clientPart();
      if (error instanceof UrlElicitationRequiredError)
        return this.#inputRequiredResult(readElicitations(error.elicitations), context);
      throw error;
    }
  }

  /** Why the tool cannot be called after a newer listing, as a clause; `null` if it can. */
  #disabledReason({ bareName, hash }: OfferedTool): string | null {
    const { offered, refused } = this.#listing;
    if (offered.some((tool) => tool.bareName === bareName && tool.hash === hash)) return null;
    return refused.find(({ tool }) => tool === bareName)?.why ?? "the server no longer has it";
  }

  #readReply(result: CallToolResult, context: ToolContext): ToolResult {
    const inputRequest = InputRequiredSchema.safeParse(result);
    if (inputRequest.success) {
      const questions = Object.values(inputRequest.data.inputRequests ?? {});
      return this.#inputRequiredResult(questions, context);
    }
    const { text, files } = readResult(result, this.#secrets);
    return {
      outcome: result.isError === true ? "error" : "ok",
      text,
      ...(files.length > 0 && { files }),
    };
  }

  /** Ends a call that needs input: forwards the questions and returns an error for the model. */
  #inputRequiredResult(questions: readonly Question[], context: ToolContext): ToolResult {
    return { outcome: "error", text: inputResult(this.#forwardQuestions(questions, context)) };
  }

  #forwardQuestions(questions: readonly Question[], context: ToolContext): InputRequired {
    const required = inputRequired(this.server.url, questions, (text) => this.#clean(text));
    context.notify?.({ type: "elicitation", ...required });
    return required;
  }

  #toResult(failure: McpFailure, idempotent: boolean): ToolResult {
    const sentence = this.#sentence(failure);
    if (!failure.wasReached || idempotent) return { outcome: "error", text: sentence };
    return {
      outcome: "unknown",
      text: `${sentence} Whether it did what was asked is unknown: verify before repeating it.`,
    };
  }

  #sentence({ message }: McpFailure): string {
    // Secrets are removed before the cut, because half a secret would not be recognised.
    const serverText = cutText(this.#clean(message), MAX_ERROR_CHARS);
    return `The tool server ${this.server.name} ${serverText.replace(/[.\s]+$/, "")}.`;
  }

  #breakerMessage(ms: number): string {
    return breakerMessage(`The tool server ${this.server.name}`, ms);
  }

  /** Registers a secret that is about to be sent. */
  #registerSecret(secret: string): string {
    this.#secrets.add(secret);
    return secret;
  }

  #clean(text: string): string {
    return this.#secrets.clean(text);
  }
}
