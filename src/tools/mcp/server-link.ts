import { type CallToolResult, UrlElicitationRequiredError } from "@modelcontextprotocol/client";
import type { InputRequired } from "../../protocol/events/tool";
import {
  admit,
  type Breaker,
  CLOSED,
  failed,
  breakerMessage,
  succeeded,
  inconclusive,
} from "../breaker";
import type { ToolContext, ToolResult } from "../tool";
import { BoundedFetch } from "./bounded-fetch";
import { Connection } from "./connection";
import type { McpEnvironment } from "./environment";
import { isTimeout, type McpFailure, nextTry, toFailure } from "./failures";
import { inputRequired, inputResult } from "./input-required";
import { fullName } from "./names";
import { hashed, judgeListing, type Listing, type OfferedTool, type RefusedTool } from "./offer";
import { MAX_ERROR_CHARS, MAX_PROGRESS_CHARS } from "./server-limits";
import type { Pins } from "./pins";
import { readResult } from "./results";
import type { RenewedTokens } from "./renewed-tokens";
import { InputRequiredSchema, type Question, readElicitations } from "./schema";
import { SentSecrets, ServerSecrets } from "./server-secrets";
import type { McpServer } from "./server";
import { cutText, shown } from "./shown-text";
import { abortable } from "../../async/abort";
import { type Mutex, MutexLease } from "../../async/mutex";
import { sleep } from "../../async/sleep";
import { MAX_STORING_MS } from "../large-results";

type LinkOptions = {
  server: McpServer;
  env: McpEnvironment;
  pins: Pins;
  large: Mutex;
  tokens: RenewedTokens;
  /** Called after each checked listing. */
  listed: (link: ServerLink) => void;
};

/** A server during a session: its connection (may be reopened), breaker, pins and tools. */
export class ServerLink {
  readonly server: McpServer;
  readonly #options: LinkOptions;
  #connection: Connection | null = null;
  #opening: Promise<Connection> | null = null;
  /** Closed to new calls; running calls still use them. */
  readonly #retired = new Set<Connection>();
  /** Incidents that the breaker has counted: each fails all callers that share it. */
  readonly #counted = new WeakSet<object>();
  readonly #secrets = new SentSecrets();
  #breaker: Breaker = CLOSED;
  #listing: Listing;
  /** The current listing, running or done; `null` if the next use must request it. */
  #listed: Promise<void> | null = null;
  #problem: string | null = null;
  #version: string | null = null;
  #refreshing: Promise<void> | null = null;
  readonly #closed = new AbortController();

  constructor(options: LinkOptions) {
    this.server = options.server;
    this.#options = options;
    this.#listing = { offered: [], refused: [], pins: options.pins, added: [], more: 0 };
  }

  get listing(): Listing {
    return this.#listing;
  }

  /** Why the server cannot be used now, as a sentence; `null` if it can. */
  get problem(): string | null {
    return this.#problem;
  }

  get version(): string | null {
    return this.#version;
  }

  /** Connects if needed and lists again; callers share it. Throws only the signal's reason. */
  async refresh(signal: AbortSignal): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    await abortable(this.#refreshing, signal);
  }

  async #refresh(): Promise<void> {
    const signal = AbortSignal.any([
      AbortSignal.timeout(this.server.connectMs),
      this.#closed.signal,
    ]);
    const admitted = admit(this.#breaker, this.#options.env.now());
    if (!admitted.ok) return;
    this.#breaker = admitted.breaker;
    this.distrust();
    const done = await this.#attempt(signal, async () => undefined);
    this.#problem = "failure" in done ? this.#sentence(done.failure) : null;
  }

  /** Makes the next use list again. */
  distrust(): void {
    this.#listed = null;
  }

  /** Runs a tool. Errors are results; throws only the signal's reason. */
  async call(
    tool: OfferedTool,
    args: Record<string, unknown>,
    context: ToolContext,
    idempotent: boolean,
  ): Promise<ToolResult> {
    for (let nth = 1; ; nth++) {
      context.signal.throwIfAborted();
      const admitted = admit(this.#breaker, context.now());
      if (!admitted.ok)
        return { outcome: "error", text: this.#waiting(admitted.retryAt - context.now()) };
      this.#breaker = admitted.breaker;
      const done = await this.#attempt(context.signal, (connection) =>
        this.#callOnce(connection, tool, args, context),
      );
      context.signal.throwIfAborted();
      if ("value" in done) return done.value;
      const again = nextTry(done.failure, nth, idempotent);
      if (!again) return this.#toResult(done.failure, idempotent);
      await sleep(again.afterMs, context.signal);
    }
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    this.#closed.abort(new Error("the session has left its tool servers"));
    const retired = [...this.#retired].map((one) => one.abandon());
    await Promise.allSettled([connection?.close(), ...retired]);
  }

  /** One use of the connection, whose outcome updates the breaker. */
  async #attempt<T>(
    signal: AbortSignal,
    use: (connection: Connection) => Promise<T>,
  ): Promise<{ value: T } | { failure: McpFailure }> {
    let connection: Connection | null = null;
    try {
      const used = await this.#connected(signal);
      connection = used;
      const value = await used.use(async () => {
        await abortable(this.#upToDate(used), signal);
        return use(used);
      });
      this.#breaker = succeeded();
      return { value };
    } catch (error) {
      const failure = toFailure(error, connection?.hasSession ?? false);
      const isLeft = signal.aborted && !isTimeout(signal.reason);
      if (isLeft) this.#breaker = inconclusive(this.#breaker);
      else this.#judge(failure, connection ?? error);
      if (!isLeft && connection && (failure.fault || failure.forgotten)) this.#retire(connection);
      return { failure };
    }
  }

  /** `incident` is shared by calls that fail for the same cause, and counts once. */
  #judge({ fault }: McpFailure, incident: unknown): void {
    const known = typeof incident === "object" && incident !== null ? incident : {};
    if (!fault) this.#breaker = succeeded();
    else if (this.#counted.has(known)) this.#breaker = inconclusive(this.#breaker);
    else this.#breaker = failed(this.#breaker, this.#options.env.now());
    if (fault) this.#counted.add(known);
  }

  /** Closes a connection to new calls without aborting running ones. */
  #retire(connection: Connection): void {
    if (this.#connection === connection) {
      this.#connection = null;
      this.distrust(); // another process may answer next time
    }
    if (this.#retired.has(connection)) return;
    this.#retired.add(connection);
    const closed = connection.retire().catch(() => undefined);
    void closed.finally(() => this.#retired.delete(connection));
  }

  /** Concurrent callers share one connection; an abort does not close it for the others. */
  #connected(signal: AbortSignal): Promise<Connection> {
    if (this.#connection) return Promise.resolve(this.#connection);
    this.#opening ??= this.#open(this.#closed.signal).finally(() => {
      this.#opening = null;
    });
    return abortable(this.#opening, signal);
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const { server, env } = this.#options;
    const secrets = new ServerSecrets({ server, env, kept: (secret) => this.#kept(secret) });
    const { headers, mayShow, secretOf } = secrets;
    await headers("POST"); // reports a missing secret before anything is sent
    const connection = new Connection({
      server,
      out: new BoundedFetch({
        ...{ fetch: env.fetch, url: new URL(server.url).href, headers, mayShow },
        ...{ secrets: this.#secrets, enter: env.enter },
      }),
      oauth: {
        secretOf,
        refusal: () => secrets.refusal,
        renewed: this.#options.tokens,
        onTokens: ({ access_token, refresh_token, id_token }) => {
          for (const token of [access_token, refresh_token, id_token]) this.#kept(token ?? "");
        },
      },
      changed: () => this.distrust(),
    });
    try {
      await connection.open(signal);
    } catch (error) {
      await connection.abandon().catch(() => undefined);
      throw error;
    }
    this.#connection = connection;
    this.#version = connection.version;
    return connection;
  }

  /** Concurrent callers share one `tools/list` request; an abort does not cancel it for others. */
  #upToDate(connection: Connection): Promise<void> {
    if (this.#listed !== null) return this.#listed;
    const listed: Promise<void> = this.#list(connection, () =>
      this.#listed === listed ? null : this.#listed,
    ).catch((error) => {
      if (this.#listed === listed) this.#listed = null;
      throw error;
    });
    this.#listed = listed;
    return listed;
  }

  /** `later`: a newer listing, which takes precedence; `null` if there is none. */
  async #list(connection: Connection, later: () => Promise<void> | null): Promise<void> {
    const tools = await connection.list(this.#closed.signal);
    const leaking = new Set(tools.filter((tool) => this.#secrets.isIn(JSON.stringify(tool))));
    const safeTools = tools.filter((tool) => !leaking.has(tool));
    const why = "what the server says of it repeats what we showed the server to be let in";
    const hidden = [...leaking].map(async ({ name }): Promise<RefusedTool> => {
      const bareName = this.#clean(shown(name));
      return {
        server: this.server.name,
        tool: bareName,
        name: await fullName(this.server.name, bareName),
        why,
        changed: false,
      };
    });
    const hashedTools = await Promise.all(safeTools.map((tool) => hashed(this.server.name, tool)));
    const hiddenTools = await Promise.all(hidden);
    const newer = later();
    if (newer !== null) return newer;
    const listing = judgeListing(this.server, hashedTools, this.#listing.pins);
    this.#listing = { ...listing, refused: [...hiddenTools, ...listing.refused] };
    this.#problem = null; // first, so that listeners see a server without a problem
    this.#options.listed(this);
  }

  async #callOnce(
    connection: Connection,
    tool: OfferedTool,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Promise<ToolResult> {
    const off = this.#whyOff(tool);
    if (off !== null)
      return {
        outcome: "error",
        text: `The tool \`${tool.name}\` is switched off: ${off}. Go on without it.`,
      };
    const large = new MutexLease(this.#options.large);
    const call = connection.call({
      name: tool.bareName,
      args,
      key: context.idempotencyKey,
      signal: context.signal,
      onHeaders: context.onHeaders,
      large,
      tool: tool.tool,
      progress: ({ progress, total, message }) =>
        context.notify?.({
          type: "progress",
          origin: this.#origin,
          progress,
          total: total ?? null,
          message:
            message === undefined ? null : cutText(this.#clean(shown(message)), MAX_PROGRESS_CHARS),
        }),
      asked: (question) => this.#forwardQuestions([question], context),
    });
    try {
      const result = this.#ofReply(await call, context);
      large.releaseOnEnd(context.onResultStored, MAX_STORING_MS);
      return result;
    } catch (error) {
      large.release();
      if (error instanceof UrlElicitationRequiredError)
        return this.#asked(readElicitations(error.elicitations), context);
      throw error;
    }
  }

  /** The listing may have changed since the tool was offered. */
  #whyOff({ bareName, hash }: OfferedTool): string | null {
    if (this.#listing.offered.some((one) => one.bareName === bareName && one.hash === hash))
      return null;
    return (
      this.#listing.refused.find((one) => one.tool === bareName)?.why ??
      "the server no longer has it"
    );
  }

  #ofReply(result: CallToolResult, context: ToolContext): ToolResult {
    const asked = InputRequiredSchema.safeParse(result);
    if (asked.success) return this.#asked(Object.values(asked.data.inputRequests ?? {}), context);
    const { text, files } = readResult(result, this.#secrets);
    return {
      outcome: result.isError === true ? "error" : "ok",
      text,
      ...(files.length > 0 && { files }),
    };
  }

  #asked(questions: readonly Question[], context: ToolContext): ToolResult {
    return { outcome: "error", text: inputResult(this.#forwardQuestions(questions, context)) };
  }

  #forwardQuestions(questions: readonly Question[], context: ToolContext): InputRequired {
    const required = inputRequired(this.server.url, questions, (text) => this.#clean(text));
    context.notify?.({ type: "elicitation", ...required });
    return required;
  }

  #toResult(failure: McpFailure, idempotent: boolean): ToolResult {
    const sentence = this.#sentence(failure);
    if (!failure.reached || idempotent) return { outcome: "error", text: sentence };
    return {
      outcome: "unknown",
      text: `${sentence} Whether it did what was asked is unknown: verify before repeating it.`,
    };
  }

  #sentence({ message }: McpFailure): string {
    // Remove secrets before cutting: half a secret would not be recognised.
    const said = cutText(this.#clean(message), MAX_ERROR_CHARS);
    return `The tool server ${this.server.name} ${said.replace(/[.\s]+$/, "")}.`;
  }

  #waiting(ms: number): string {
    return breakerMessage(`The tool server ${this.server.name}`, ms);
  }

  /** Registers a secret that is about to be sent. */
  #kept(secret: string): string {
    this.#secrets.add(secret);
    return secret;
  }

  get #origin(): string {
    return new URL(this.server.url).origin;
  }

  #clean(text: string): string {
    return this.#secrets.clean(text);
  }
}
