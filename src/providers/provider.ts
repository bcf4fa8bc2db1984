import type { FailureClass, StopReason, Usage } from "../protocol/events";

/**
 * The seam between the agents and every wire format. A format's folder turns a `ModelRequest` into its provider's request and
 * the provider's stream into `ModelEvent`s; nothing outside that folder knows the format.
 */

/** A tool offered to the model; `parameters` is a JSON Schema of type object. */
export type ToolSpec = { name: string; description: string; parameters: Record<string, unknown> };

/**
 * A part of a model's reply, kept to be sent back in the next call of the round. `opaque` holds whatever the provider wants
 * returned unchanged (signatures, encrypted reasoning, item ids); only the folder that made it reads it.
 */
export type ReplyItem =
  | { type: "text"; text: string; opaque?: unknown }
  | { type: "reasoning"; text: string; opaque?: unknown }
  /** `arguments` is the raw JSON text as received; empty becomes "{}". `id` is unique within the round. */
  | { type: "tool_call"; id: string; name: string; arguments: string; opaque?: unknown };

export type Message =
  | { role: "user"; text: string }
  | { role: "assistant"; items: ReplyItem[] }
  /** The result of one tool call; each call of the assistant message before it has exactly one. */
  | { role: "tool"; toolCallId: string; name: string; text: string; isError: boolean };

export type ModelRequest = {
  model: string;
  system: string;
  messages: Message[];
  tools: ToolSpec[];
  /** `required`: the reply must call a tool. Adapters whose provider cannot force one send `auto`. */
  toolChoice: "auto" | "required";
  /** null: no cap of ours, so the provider's own applies. */
  maxOutputTokens: number | null;
  /** Provider parameters of the config (temperature, top_p …), validated there, sent as they are. */
  params: Readonly<Record<string, unknown>>;
};

/** `index` numbers the tool calls of one reply from 0, in order of appearance. */
export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool_arguments"; index: number; name: string; text: string }
  /** Usage known before the end, so that a cut or cancelled call can be charged what was reported. */
  | { type: "usage"; usage: Usage }
  | { type: "stop"; reason: StopReason; items: ReplyItem[]; usage: Usage | null };

/**
 * One model reply as a stream. Yields deltas in order and ends with exactly one `stop`. Every failure is thrown, as
 * ProviderError, or as `signal.reason` after an abort; a stream that ends before the provider said it is complete is a
 * failure. Never retries: that is a rule, in `coordination/`. May be called several times, also at once.
 */
export type Provider = {
  readonly id: string;
  /** `heard` is called for whatever arrives from the provider, keep-alive comments included; it must be cheap. */
  stream(request: ModelRequest, signal: AbortSignal, heard?: () => void): AsyncIterable<ModelEvent>;
};

/** `fetch` is the caller's: it counts what waits for headers, and in tests it is the only way out. */
export type ProviderOptions = { baseUrl: string; apiKey: string; fetch: typeof fetch };

/** A call that failed. `message` is for people, in the provider's words, keys removed; `code` is stable. */
export class ProviderError extends Error {
  constructor(
    /** Which rule of `protocol.md` §7 applies. */
    readonly failureClass: FailureClass,
    /** Stable, snake_case: `rate_limited`, `overloaded`, `server_error`, `timeout`, `connection_refused`, `connection_failed`, `stream_cut` … */
    readonly code: string,
    message: string,
    readonly details: {
      /** HTTP status, if one came. */
      status?: number;
      /** How long the provider asks to wait. */
      retryAfterMs?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.name = "ProviderError";
  }
}
