import { withoutStack } from "../async/abort";
import type { FailureClass, StopReason, Usage } from "../protocol/events";
import type { Citation, HostedToolName, HostedUse } from "../protocol/hosted-tools";
import type { Host } from "./hosts";
import type { Part } from "./attachment-parts";

/**
 * The interface between agents and wire formats. The folder of a format converts a `ModelRequest`
 * to the request of its provider, and the stream of the provider to `ModelEvent`s. Code outside
 * that folder does not depend on the format.
 */

/** A tool offered to the model; `parameters` is a JSON Schema of type object. */
export type ToolSpec = { name: string; description: string; parameters: Record<string, unknown> };

/** A tool that the provider runs on its own machines, at most `maxUses` times per call. */
export type HostedTool = { name: HostedToolName; maxUses: number };

/**
 * A part of a reply of a model. It is sent back in the next call of the round. `opaque` holds data
 * that the provider requires unchanged: signatures, encrypted reasoning, item ids. Only the folder
 * of the format that created the data reads it.
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
   * Input or output of a hosted tool, in order with the other items. Its data is only in `opaque`.
   * It is never part of an answer.
   */
  | { type: "hosted"; name: HostedToolName; opaque?: unknown };

export type Message =
  /**
   * `history`: texts that are placed first; each ends with a blank line. They begin the history of
   * later requests, so a format places a cache mark after the last one if its provider has such
   * marks. `parts` are placed before the text. Both are omitted if there are none.
   */
  | { role: "user"; text: string; history?: readonly string[]; parts?: readonly Part[] }
  | { role: "assistant"; items: ReplyItem[] }
  /**
   * The result of one tool call. Each call of the preceding assistant message has exactly one
   * result.
   */
  | { role: "tool"; toolCallId: string; name: string; text: string; isError: boolean };

export type ModelRequest = {
  model: string;
  system: string;
  /** May be megabytes. An adapter must not keep a reference after it has sent the request. */
  readonly messages: Message[];
  /**
   * Reads the parts of the first message, after its history; omitted if there are none. Adapters
   * call it right before each send, with `withParts`, and keep no reference to the result. Throws a
   * ProviderError or the reason of the signal.
   */
  attached?: (signal: AbortSignal) => Promise<readonly Part[]>;
  tools: ToolSpec[];
  hostedTools: readonly HostedTool[];
  /**
   * `required` means that the reply must call a tool. Adapters send `auto` if the provider cannot
   * force a call.
   */
  toolChoice: "auto" | "required";
  /**
   * Maximum number of output tokens. `null` if we set no cap; then the cap of the provider applies.
   */
  maxOutputTokens: number | null;
  /**
   * Provider parameters of the config (temperature, top_p …) by their config names, validated by
   * the format's `params.ts`.
   */
  params: Readonly<Record<string, unknown>>;
  /**
   * Whether another call will probably extend this conversation within minutes. If so, writing to a
   * prompt cache reduces the cost.
   */
  continues: boolean;
  /**
   * The same for all requests that may begin alike, of at most 64 characters. Hosts with such a
   * field send these requests to the same cache. Omitted: none.
   */
  cacheKey?: string;
};

/** `index` numbers the tool calls of one reply from 0, in order. */
export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  /**
   * `id` is the id of the call from the provider. It is omitted if it is not yet known, or if an
   * earlier call of the reply has the same id.
   */
  | { type: "tool_arguments"; index: number; name: string; id?: string; text: string }
  /** Input of a hosted tool (a query, a piece of code), as it is streamed. */
  | { type: "hosted_tool"; name: HostedToolName; text: string }
  /**
   * The reply can be resumed after the next event, and the point must be stored together with that
   * event. `alone`: no event follows that belongs to the point.
   */
  | { type: "resume_point"; point: ResumePoint; alone: boolean }
  /**
   * Usage so far. A call that is cut or cancelled is charged this usage. A report is not sent if it
   * omits counts that an earlier report contains.
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
  /** Sources of the text of the reply; omitted if there are none. */
  citations?: readonly Citation[];
};

/**
 * A position at which a background reply can be resumed. Only the adapter that made it reads it:
 * `id` identifies the reply, `after` the last event received.
 */
export type ResumePoint = { id: string; after: number };

/**
 * One model reply as a stream. Yields deltas in order and ends with exactly one `stop`. Every
 * failure is thrown: as a ProviderError, or as `signal.reason` after an abort. A stream that ends
 * before its end marker is a failure. A provider never retries, because the rules for retries are
 * in `coordination/`. Calls may run concurrently.
 */
export type Provider = {
  readonly id: string;
  /**
   * `onBytes` is called for all data from the provider, keep-alive comments included; it must be
   * cheap. `from` is a resume point that an earlier call for the same request yielded. With it,
   * only deltas after the point are yielded, but `stop` contains the whole reply. Adapters that
   * yield no resume points never receive one.
   */
  stream(
    request: ModelRequest,
    signal: AbortSignal,
    onBytes?: () => void,
    from?: ResumePoint,
  ): AsyncIterable<ModelEvent>;
};

/** Functions that the caller of a model call runs at the steps of its requests; see `transport`. */
export type TransportHooks = {
  /**
   * The request is built, and its body has `bytes` bytes. It is sent when the returned promise
   * resolves. Data that was needed only to build it can be released.
   */
  onBuilt: (bytes: number) => Promise<void>;
  /** Calls `send` if this address is allowed and reachable. Throws otherwise. */
  guard: (url: URL, signal: AbortSignal, send: () => Promise<Response>) => Promise<Response>;
  /**
   * The request is passed to the guard and the network. From this step on, the call may cost
   * something.
   */
  onSend: () => void;
  /** The guard or the network has thrown. `error` shows whether anything was sent. */
  onFailure: (error: unknown) => void;
  /** The headers of the response have arrived, or will never arrive. Called once per request. */
  onHeaders: () => void;
  /**
   * Aborted if the call must release its slot before the headers have arrived. The call then fails
   * with the reason of this signal.
   */
  yieldSignal: AbortSignal;
  /** Takes over a body of which no more is needed, and releases its connection soon. */
  readEnd: (reader: ReadableStreamDefaultReader<Uint8Array>) => void;
};

export type ProviderOptions = {
  /** Base URL for the paths of the format, without a trailing slash. */
  baseUrl: string;
  /** Empty if the endpoint needs none. */
  apiKey: string;
  /** The network. The caller passes it; tests replace it. */
  fetch: typeof fetch;
  /** Steps of the caller in each request; see `transport`. */
  hooks: TransportHooks;
  /** How the endpoint differs from others of its format. */
  host: Host;
  /** Dated API version for endpoints that require one; `null` for the current version. */
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
      /** Delay in ms that the provider asks for before a retry. */
      retryAfterMs?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.name = "ProviderError";
  }
}

/** The reason for aborting a call that took too long. */
export const timeoutError = (message: string): ProviderError =>
  withoutStack(() => new ProviderError("transient", "timeout", message));
