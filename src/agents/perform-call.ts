import { CANNOT_REACH, type CallFailure } from "../coordination";
import type { StopReason, Usage } from "../protocol/events";
import type { Citation, HostedUse } from "../protocol/hosted-tools";
import { toProviderError } from "../providers/errors";
import {
  type ModelEvent,
  type ModelRequest,
  type Provider,
  ProviderError,
  type ReplyItem,
  type ResumePoint,
} from "../providers/provider";

/** The outcome of a call; an input of the rules. */
export type PerformedCall =
  | {
      type: "replied";
      items: ReplyItem[];
      text: string;
      stopReason: StopReason;
      usage: Usage | null;
      hosted: readonly HostedUse[];
      citations: readonly Citation[];
    }
  | { type: "failed"; failure: CallFailure };

/** `name` is the tool of these arguments or this input. */
export type CallDelta = {
  kind: "text" | "reasoning" | "tool_arguments" | "hosted_tool";
  name?: string;
  toolIndex?: number;
  /** The provider's id of the tool call. */
  toolId?: string;
  text: string;
};

export type CallOptions = {
  provider: Provider;
  request: ModelRequest;
  signal: AbortSignal;
  /** Called synchronously for each piece, in order. */
  onDelta: (delta: CallDelta) => void;
  /** Called with usage before the end; a cancelled call is charged this. */
  onUsage?: (usage: Usage) => void;
  /**
   * Called with a point from which the reply can be resumed after a lost connection, before the
   * delta that belongs to it.
   */
  onResumePoint?: (point: ResumePoint, alone: boolean) => void;
  /** Resumes the reply to the same request from this point. */
  from?: ResumePoint;
  /** Whether a request of this try was handed to the network. Omitted: assumed true. */
  wasSent?: () => boolean;
};

/** A reply with more calls is degenerate. */
const MOST_TOOL_CALLS = 1_024;

/** Performs one try of a model call. Throws only the signal's reason. */
export async function performCall(options: CallOptions): Promise<PerformedCall> {
  const resumed = options.from !== undefined; // then the provider accepted and started it
  const progress: Progress = { anything: resumed, reply: resumed, usage: null };
  try {
    return await listen(options, progress);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    const wasSent = resumed || (options.wasSent?.() ?? true);
    return { type: "failed", failure: toFailure(error, progress, wasSent) };
  }
}

/** The progress of a failed call. */
type Progress = {
  /** Received bytes of a successful response, keep-alive comments included. */
  anything: boolean;
  /** Received part of the reply itself. */
  reply: boolean;
  usage: Usage | null;
};
type Stop = Extract<ModelEvent, { type: "stop" }>;

async function listen(options: CallOptions, progress: Progress): Promise<PerformedCall> {
  const { provider, request, signal, from } = options;
  const onBytes = () => {
    progress.anything = true;
  };
  for await (const event of provider.stream(request, signal, onBytes, from)) {
    progress.anything = true;
    progress.reply = true;
    const performed = take(event, options, progress);
    if (performed) return performed;
  }
  signal.throwIfAborted();
  throw new ProviderError(
    "transient",
    "stream_cut",
    "The stream ended before the reply was complete.",
  );
}

/** Forwards an event; returns the outcome once the reply is complete. */
function take(
  event: ModelEvent,
  { onDelta, onUsage, onResumePoint }: CallOptions,
  progress: Progress,
): PerformedCall | null {
  switch (event.type) {
    case "stop":
      return toPerformed(event, progress);
    case "usage":
      progress.usage = event.usage;
      onUsage?.(event.usage);
      return null;
    case "resume_point":
      onResumePoint?.(event.point, event.alone);
      return null;
    case "tool_arguments":
      if (event.text !== "") onDelta(toolDelta(event));
      return null;
    case "hosted_tool":
      if (event.text !== "") onDelta({ kind: event.type, name: event.name, text: event.text });
      return null;
    case "text":
    case "reasoning":
      if (event.text !== "") onDelta({ kind: event.type, text: event.text });
      return null;
  }
}

const toolDelta = ({
  type,
  name,
  index,
  id,
  text,
}: Extract<ModelEvent, { type: "tool_arguments" }>): CallDelta => ({
  kind: type,
  name,
  toolIndex: index,
  ...(id !== undefined && { toolId: id }),
  text,
});

function toPerformed(
  { items, reason, usage, hosted = [], citations = [] }: Stop,
  progress: Progress,
): PerformedCall {
  progress.usage = usage ?? progress.usage;
  if (items.filter(({ type }) => type === "tool_call").length > MOST_TOOL_CALLS) {
    throw new ProviderError(
      "transient",
      "too_many_tool_calls",
      `The reply held more than ${MOST_TOOL_CALLS} tool calls.`,
    );
  }
  const text = items.map((item) => (item.type === "text" ? item.text : "")).join("");
  return {
    type: "replied",
    items,
    text,
    stopReason: reason,
    usage: progress.usage,
    hosted,
    citations,
  };
}

function toFailure(error: unknown, progress: Progress, wasSent: boolean): CallFailure {
  const failure = known(error);
  const { failureClass, code, message, details } = failure;
  return {
    class: failureClass,
    // Although the provider is unreachable now, an earlier request of this try was sent.
    code: wasSent && code === CANNOT_REACH ? "connection_failed" : code,
    message,
    retryAfterMs: details.retryAfterMs ?? null,
    usage: progress.usage,
    reached: !isUnworked(failure, progress, wasSent),
  };
}

/**
 * Statuses of 500 and above that prove that no reply was started. With others, a gateway may have
 * given up waiting.
 */
const NOT_BEGUN = new Set([500, 501, 502, 503, 521, 522, 523, 525, 526, 529, 530]);
/** Formally a refusal, but gateways also use it when they give up waiting for a model. */
const GAVE_UP = 408;

/** Whether it is certain that no model processed the call. If uncertain, it is charged in full. */
function isUnworked(
  { details: { status } }: ProviderError,
  progress: Progress,
  wasSent: boolean,
): boolean {
  // a connection lost later proves nothing: refused and broken ones look the same
  if (!wasSent) return true;
  if (status === undefined || status === GAVE_UP || progress.reply) return false;
  return progress.anything
    ? status >= 400 && status < 500
    : (status >= 300 && status < 500) || NOT_BEGUN.has(status);
}

/** An unclassified error may contain anything, keys too, so its message is not logged. */
function known(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const explained = toProviderError(error, []);
  if (explained.failureClass === "interrupted") return explained;
  return new ProviderError(
    "transient",
    "unexpected",
    "The call failed for a reason the service does not know.",
  );
}
