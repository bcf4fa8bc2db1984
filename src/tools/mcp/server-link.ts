import type { CallToolResult } from "@modelcontextprotocol/client";
import { redact } from "../../redaction/redact";
import { fillSecrets } from "../http/definition";
import type { ToolContext, ToolResult } from "../tool";
import { BoundedFetch } from "./bounded-fetch";
import { admit, type Breaker, CLOSED, failed, succeeded, undecided } from "./breaker";
import { Connection } from "./connection";
import type { McpEnvironment } from "./environment";
import { type McpFailure, toFailure } from "./failures";
import { inputAsked } from "./input-asked";
import { judgeListing, type Listing, type Offered } from "./offer";
import type { Pins } from "./pins";
import { resultText } from "./results";
import { nextTry } from "./retry";
import { InputRequiredSchema } from "./schema";
import type { McpServer } from "./server";
import { cutText, shown } from "./shown-text";
import { toolHash } from "./tool-hash";
import type { Turnstile } from "./turnstile";

export type LinkOptions = {
  server: McpServer;
  env: McpEnvironment;
  pins: Pins;
  large: Turnstile;
  /** A listing was judged, at first or anew. */
  listed: (link: ServerLink) => void;
};

/** One server for the length of a session: its connection, which may break and come again, its breaker, its pins, what it offers. */
export class ServerLink {
  readonly server: McpServer;
  readonly #options: LinkOptions;
  #connection: Connection | null = null;
  #opening: Promise<Connection> | null = null;
  #out: BoundedFetch | null = null;
  #breaker: Breaker = CLOSED;
  #listing: Listing;
  #stale = true;
  #problem: string | null = null;
  #version: string | null = null;

  constructor(options: LinkOptions) {
    this.server = options.server;
    this.#options = options;
    this.#listing = { offered: [], refused: [], pins: options.pins, added: [], more: 0 };
  }

  get listing(): Listing {
    return this.#listing;
  }

  /** Why it cannot be used now, as a sentence; null: it can. */
  get problem(): string | null {
    return this.#problem;
  }

  /** The protocol's revision that was last spoken. */
  get version(): string | null {
    return this.#version;
  }

  /** Connects where that is needed, and lists anew. Never throws for a fault of the server; see `problem`. */
  async refresh(signal: AbortSignal): Promise<void> {
    const admitted = admit(this.#breaker, this.#options.env.now());
    if (!admitted.ok) return;
    this.#breaker = admitted.breaker;
    this.#stale = true;
    const done = await this.#attempt(signal, async () => undefined);
    this.#problem = "failure" in done ? this.#sentence(done.failure) : null;
  }

  /** Everything is asked again next time. */
  distrust(): void {
    this.#stale = true;
  }

  /** Runs a tool. Gives errors as results; throws the signal's reason and nothing else. */
  async call(tool: Offered, args: Record<string, unknown>, context: ToolContext, idempotent: boolean): Promise<ToolResult> {
    for (let nth = 1; ; nth++) {
      context.signal.throwIfAborted();
      const admitted = admit(this.#breaker, context.now());
      if (!admitted.ok) return { outcome: "error", text: this.#waiting(admitted.retryAt - context.now()) };
      this.#breaker = admitted.breaker;
      const done = await this.#attempt(context.signal, (connection) => this.#callOnce(connection, tool, args, context));
      context.signal.throwIfAborted();
      if ("value" in done) return done.value;
      const again = nextTry(done.failure, nth, idempotent);
      if (!again) return this.#toResult(done.failure, idempotent);
      await pause(again.afterMs, context.signal);
    }
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    await connection?.close().catch(() => undefined);
  }

  /** One use of the connection, with what it shows of the server's health. */
  async #attempt<T>(
    signal: AbortSignal,
    use: (connection: Connection) => Promise<T>,
  ): Promise<{ value: T } | { failure: McpFailure }> {
    try {
      const connection = await this.#connected(signal);
      if (this.#stale) await this.#list(connection, signal);
      const value = await use(connection);
      this.#breaker = succeeded();
      return { value };
    } catch (error) {
      const failure = toFailure(error, this.#connection?.hasSession ?? false);
      if (signal.aborted) this.#breaker = undecided(this.#breaker);
      else this.#breaker = failure.fault ? failed(this.#breaker, this.#options.env.now()) : succeeded();
      if (!signal.aborted && (failure.fault || failure.forgotten)) await this.#drop();
      return { failure };
    }
  }

  async #drop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    this.#stale = true; // another process may answer next time
    await connection?.abandon().catch(() => undefined);
  }

  /** One connection for all who want one at the same time. */
  #connected(signal: AbortSignal): Promise<Connection> {
    if (this.#connection) return Promise.resolve(this.#connection);
    this.#opening ??= this.#open(signal).finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const { server, env, large } = this.#options;
    const secretOf = (name: string) => env.secretOf(name, server);
    const headers = new Map(Object.entries(server.headers).map(([name, value]) => [name, fillSecrets(value, secretOf)] as const));
    this.#out = new BoundedFetch({ fetch: env.fetch, url: new URL(server.url).href, headers, large });
    const connection = new Connection({
      server,
      out: this.#out,
      oauth: { secretOf, renewed: (tokens) => env.renewed?.(server, tokens) },
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

  async #list(connection: Connection, signal: AbortSignal): Promise<void> {
    this.#stale = false;
    const tools = await connection.list(signal).catch((error: unknown) => {
      this.#stale = true;
      throw error;
    });
    const hashed = await Promise.all(tools.map(async (tool) => ({ tool, hash: await toolHash(tool) })));
    this.#listing = judgeListing(this.server, hashed, this.#listing.pins);
    this.#options.listed(this);
  }

  async #callOnce(
    connection: Connection,
    tool: Offered,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Promise<ToolResult> {
    const off = this.#whyOff(tool);
    if (off !== null) return { outcome: "error", text: `The tool \`${tool.name}\` is switched off: ${off}. Go on without it.` };
    const result = await connection.call({
      name: tool.bareName,
      args,
      key: context.idempotencyKey,
      signal: context.signal,
      tool: tool.tool,
      progress: ({ progress, total, message }) =>
        context.tell?.({
          type: "progress",
          progress,
          total: total ?? null,
          message: message === undefined ? null : this.#clean(cutText(shown(message), 500)),
        }),
    });
    return this.#ofReply(result, context);
  }

  /** The listing may have changed since the tool was offered. */
  #whyOff({ bareName, hash }: Offered): string | null {
    if (this.#listing.offered.some((one) => one.bareName === bareName && one.hash === hash)) return null;
    return this.#listing.refused.find((one) => one.tool === bareName)?.why ?? "the server no longer has it";
  }

  #ofReply(result: CallToolResult, context: ToolContext): ToolResult {
    const asked = InputRequiredSchema.safeParse(result);
    if (asked.success) {
      const text = this.#clean(inputAsked(this.server.url, Object.values(asked.data.inputRequests ?? {})));
      context.tell?.({ type: "input_asked", origin: new URL(this.server.url).origin, text });
      return { outcome: "error", text };
    }
    return { outcome: result.isError === true ? "error" : "ok", text: this.#clean(resultText(result)) };
  }

  #toResult(failure: McpFailure, idempotent: boolean): ToolResult {
    const sentence = this.#sentence(failure);
    if (!failure.reached || idempotent) return { outcome: "error", text: sentence };
    return { outcome: "unknown", text: `${sentence} Whether it did what was asked is unknown: verify before repeating it.` };
  }

  #sentence({ message }: McpFailure): string {
    return this.#clean(`The tool server ${this.server.name} ${message.replace(/[.\s]+$/, "")}.`);
  }

  #waiting(ms: number): string {
    const seconds = Math.max(1, Math.ceil(ms / 1000));
    return `The tool server ${this.server.name} has failed several times in a row and is not asked again for ${seconds} s. Go on without it, or try later.`;
  }

  /** Without what we showed the server to be let in, should it echo that. */
  #clean(text: string): string {
    const secrets = this.#out?.secrets ?? [];
    return secrets.some((secret) => text.includes(secret)) ? redact(text, secrets) : text;
  }
}

/** Throws the signal's reason if it is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
