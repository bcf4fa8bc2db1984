import type { FailureClass, StopReason, Usage } from "../protocol/events";
import type { Citation, HostedToolName, HostedUse } from "../protocol/hosted-tools";
import type { Host } from "./hosts";
import type { Part } from "./parts";

/**
 * The seam between the agents and every wire format. A format's folder turns a `ModelRequest` into its provider's request and
 * the provider's stream into `ModelEvent`s; nothing outside that folder knows the format.
 */

/** A tool offered to the model; `parameters` is a JSON Schema of type object. */
export type ToolSpec = { name: string; description: string; parameters: Record<string, unknown> };

/** A tool the provider runs on its own machines, at most `maxUses` times in one call. */
export type HostedTool = { name: HostedToolName; maxUses: number };

/**
 * A part of a model's reply, kept to be sent back in the next call of the round. `opaque` holds whatever the provider wants
 * returned unchanged (signatures, encrypted reasoning, item ids); only the folder that made it reads it.
 */
export type ReplyItem =
  | { type: "text"; text: string; opaque?: unknown }
  | { type: "reasoning"; text: string; opaque?: unknown }
  /** `arguments` is the raw JSON text as received; empty becomes "{}". `id` is unique within the round. */
  | { type: "tool_call"; id: string; name: string; arguments: string; opaque?: unknown }
  /** What a hosted tool was asked or gave, in its place among the others; all of it is in `opaque`. Never part of an answer. */
  | { type: "hosted"; name: HostedToolName; opaque?: unknown };

export type Message =
  /** `parts` stand before the text; absent: none. */
  | { role: "user"; text: string; parts?: readonly Part[] }
  | { role: "assistant"; items: ReplyItem[] }
  /** The result of one tool call; each call of the assistant message before it has exactly one. */
  | { role: "tool"; toolCallId: string; name: string; text: string; isError: boolean };

export type ModelRequest = {
  model: string;
  system: string;
  /** Megabytes, it may be: an adapter keeps nothing of it once the request is sent, and asks for it again where it must. */
  readonly messages: Message[];
  /**
   * Reads what stands before the first message; absent: nothing. Adapters ask for it right before they send (`with-parts.ts`), each time
   * they do, and keep nothing of it. Throws ProviderError, or what the signal was aborted with.
   */
  attached?: (signal: AbortSignal) => Promise<readonly Part[]>;
  tools: ToolSpec[];
  hostedTools: readonly HostedTool[];
  /** `required`: the reply must call a tool. Adapters whose provider cannot force one send `auto`. */
  toolChoice: "auto" | "required";
  /** null: no cap of ours, so the provider's own applies. */
  maxOutputTokens: number | null;
  /** Provider parameters of the config (temperature, top_p …) by their names there, validated there by the format's `params.ts`. */
  params: Readonly<Record<string, unknown>>;
  /** Whether another call is likely to go on from this one's end within minutes, so that paying for a cache of all of it pays. */
  continues: boolean;
};

/** `index` numbers the tool calls of one reply from 0, in order of appearance. */
export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  /** `id`: the provider's of the call, if it is known by now and no call before it in the reply has the same. */
  | { type: "tool_arguments"; index: number; name: string; id?: string; text: string }
  /** What a hosted tool is asked (a query, a piece of code), as it is written. */
  | { type: "hosted_tool"; name: HostedToolName; text: string }
  /** Behind the event that comes next, the reply can be taken up again: the two count together. `alone`: no event belongs to it. */
  | { type: "resume_point"; point: ResumePoint; alone: boolean }
  /** Usage so far, with all output written so far: a cut or cancelled call is charged this. What leaves out more is not told. */
  | { type: "usage"; usage: Usage }
  | Stop;

type Stop = {
  type: "stop";
  reason: StopReason;
  items: ReplyItem[];
  usage: Usage | null;
  /** What hosted tools did, in order; absent: nothing. */
  hosted?: readonly HostedUse[];
  /** Sources of the reply's text; absent: none. */
  citations?: readonly Citation[];
};

/** Where a reply that the provider goes on writing by itself can be taken up. Plain data, meaningful to its adapter only. */
export type ResumePoint = { id: string; after: number };

/**
 * One model reply as a stream. Yields deltas in order and ends with exactly one `stop`. Every failure is thrown, as
 * ProviderError, or as `signal.reason` after an abort; a stream that ends before the provider said it is complete is a
 * failure. Never retries: that is a rule, in `coordination/`. May be called several times, also at once.
 */
export type Provider = {
  readonly id: string;
  /**
   * `heard` is called for whatever arrives from the provider, keep-alive comments included; it must be cheap. With `from`, a
   * point that a call for the same request gave, the reply goes on from there instead of being asked for anew; only deltas
   * after the point come, but `stop` holds the whole reply. Adapters that give no points are never given one.
   */
  stream(
    request: ModelRequest,
    signal: AbortSignal,
    heard?: () => void,
    from?: ResumePoint,
  ): AsyncIterable<ModelEvent>;
};

export type ProviderOptions = {
  /** What the format's paths are added to; no trailing slash. */
  baseUrl: string;
  /** Empty: the endpoint wants none. */
  apiKey: string;
  /** The caller's: it counts what waits for headers, and in tests it is the only way out. */
  fetch: typeof fetch;
  /** How the endpoint differs from others of its format. */
  host: Host;
  /** For endpoints that are asked for a dated version of their API; null: the current one. */
  apiVersion: string | null;
  /** Whether replies are written in the background where the endpoint can, so that a cut stream can be taken up again. */
  background: boolean;
};

/** A call that failed. `message` is for people, in the provider's words, keys removed; `code` is stable. */
export class ProviderError extends Error {
  constructor(
    /** Which of the protocol's rules for failed calls applies. */
    readonly failureClass: FailureClass,
    /** Stable, snake_case: `rate_limited`, `overloaded`, `server_error`, `timeout`, `cannot_reach`, `connection_refused`, `connection_failed`, `stream_cut` … */
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
