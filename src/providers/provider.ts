import type { FailureClass, StopReason, Usage } from "../protocol/events";
import type { Citation, HostedToolName, HostedUse } from "../protocol/hosted-tools";
import type { Host } from "./hosts";
import type { Part } from "./attachment-parts";

/**
 * The interface between agents and wire formats. A format's folder converts a `ModelRequest` to its
 * provider's request, and the provider's stream to `ModelEvent`s. Code outside that folder does not
 * know the format.
 */

/** A tool offered to the model; `parameters` is a JSON Schema of type object. */
export type ToolSpec = { name: string; description: string; parameters: Record<string, unknown> };

/** A tool that the provider runs on its own machines, at most `maxUses` times per call. */
export type HostedTool = { name: HostedToolName; maxUses: number };

/**
 * A part of a model's reply that is sent back in the next call of the round. `opaque` holds data
 * that the provider requires unchanged (signatures, encrypted reasoning, item ids). Only the folder
 * that made it reads it.
 */
export type ReplyItem =
  | { type: "text"; text: string; opaque?: unknown }
  | { type: "reasoning"; text: string; opaque?: unknown }
  /**
   * `arguments` is the raw JSON text as received; an empty text becomes "{}". `id` is unique within
   * the round.
   */
  | { type: "tool_call"; id: string; name: string; arguments: string; opaque?: unknown }
  /**
   * Input or output of a hosted tool, in order with the other items. All of it is in `opaque`.
   * Never part of an answer.
   */
  | { type: "hosted"; name: HostedToolName; opaque?: unknown };

export type Message =
  /** `parts` are placed before the text; omitted if there are none. */
  | { role: "user"; text: string; parts?: readonly Part[] }
  | { role: "assistant"; items: ReplyItem[] }
  /** The result of one tool call. Each call of the preceding assistant message has exactly one. */
  | { role: "tool"; toolCallId: string; name: string; text: string; isError: boolean };

export type ModelRequest = {
  model: string;
  system: string;
  /** May be megabytes. An adapter must not keep a reference after it has sent the request. */
  readonly messages: Message[];
  /**
   * Reads the parts that are placed before the first message; omitted if there are none. Adapters
   * call it right before each send (`with-parts.ts`) and keep nothing of it. Throws ProviderError
   * or the signal's reason.
   */
  attached?: (signal: AbortSignal) => Promise<readonly Part[]>;
  tools: ToolSpec[];
  hostedTools: readonly HostedTool[];
  /**
   * `required`: the reply must call a tool. Adapters send `auto` if the provider cannot force a
   * call.
   */
  toolChoice: "auto" | "required";
  /** `null` if we set no cap; then the provider's own applies. */
  maxOutputTokens: number | null;
  /**
   * Provider parameters of the config (temperature, top_p …) by their config names, validated by
   * the format's `params.ts`.
   */
  params: Readonly<Record<string, unknown>>;
  /**
   * Whether another call will probably extend this conversation within minutes, so that writing a
   * prompt cache pays off.
   */
  continues: boolean;
};

/** `index` numbers the tool calls of one reply from 0, in order. */
export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  /**
   * `id` is the provider's id of the call, if it is known already and no earlier call of the reply
   * has the same.
   */
  | { type: "tool_arguments"; index: number; name: string; id?: string; text: string }
  /** Input of a hosted tool (a query, a piece of code), as it is streamed. */
  | { type: "hosted_tool"; name: HostedToolName; text: string }
  /**
   * The reply can be resumed after the next event; the two must be stored together. `alone`: no
   * event belongs to the point.
   */
  | { type: "resume_point"; point: ResumePoint; alone: boolean }
  /**
   * Usage and output so far; a call that is cut or cancelled is charged this. A report that omits
   * more than an earlier one is not sent.
   */
  | { type: "usage"; usage: Usage }
  | Stop;

type Stop = {
  type: "stop";
  reason: StopReason;
  items: ReplyItem[];
  usage: Usage | null;
  /** Uses of hosted tools, in order; omitted if there are none. */
  hosted?: readonly HostedUse[];
  /** Sources of the reply's text; omitted if there are none. */
  citations?: readonly Citation[];
};

/** A position at which a background reply can be resumed. Plain data for its adapter. */
export type ResumePoint = { id: string; after: number };

/**
 * One model reply as a stream. Yields deltas in order and ends with exactly one `stop`. Every
 * failure is thrown, as ProviderError, or as `signal.reason` after an abort. A stream that ends
 * before its end marker is a failure. Never retries: that is a rule in `coordination/`. Calls may
 * run concurrently.
 */
export type Provider = {
  readonly id: string;
  /**
   * `onBytes` is called for all data from the provider, keep-alive comments included; it must be
   * cheap. `from` is a point that an earlier call for the same request yielded. Then the reply
   * resumes there: only deltas after the point are yielded, but `stop` holds the whole reply.
   * Adapters that yield no points never receive one.
   */
  stream(
    request: ModelRequest,
    signal: AbortSignal,
    onBytes?: () => void,
    from?: ResumePoint,
  ): AsyncIterable<ModelEvent>;
};

/** What the caller of a model call does at the steps of its requests; see `transport`. */
export type TransportHooks = {
  /** The request is built and leaves next: what only its building needs can be released. */
  onBuilt: () => void;
  /** Calls `send` if the request may, and can, be sent to this address. Throws otherwise. */
  guard: (url: URL, signal: AbortSignal, send: () => Promise<Response>) => Promise<Response>;
  /** The request goes to the guard and the network. From here on the call may cost something. */
  onSend: () => void;
  /** The guard or the network has thrown. `error` shows whether anything was sent. */
  onFailure: (error: unknown) => void;
  /** The response's headers have arrived, or will not. Called once per request. */
  onHeaders: () => void;
  /**
   * Aborted if the call must give its slot away before its headers have come. Then the call fails
   * with the signal's reason.
   */
  yieldSignal: AbortSignal;
};

export type ProviderOptions = {
  /** Base of the format's paths, without a trailing slash. */
  baseUrl: string;
  /** Empty if the endpoint needs none. */
  apiKey: string;
  /** The network. Passed by the caller; tests replace it. */
  fetch: typeof fetch;
  /** The caller's part in each request; see `transport`. */
  hooks: TransportHooks;
  /** How the endpoint differs from others of its format. */
  host: Host;
  /** Dated API version for endpoints that require one; `null` for the current one. */
  apiVersion: string | null;
  /**
   * Whether to write replies in the background if the endpoint can, so that an interrupted stream
   * can be resumed.
   */
  background: boolean;
};

/** A failed call. `message` is the provider's text with secrets removed; `code` is stable. */
export class ProviderError extends Error {
  constructor(
    /** Selects the protocol's rule for failed calls. */
    readonly failureClass: FailureClass,
    /**
     * Stable, snake_case: `rate_limited`, `overloaded`, `server_error`, `timeout`, `cannot_reach`,
     * `connection_refused`, `connection_failed`, `stream_cut` …
     */
    readonly code: string,
    message: string,
    readonly details: {
      /** HTTP status; omitted if there was no response. */
      status?: number;
      /** Delay that the provider asks for. */
      retryAfterMs?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.name = "ProviderError";
  }
}
