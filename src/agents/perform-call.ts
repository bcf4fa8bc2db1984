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

/** The outcome of one try of a call; an input of the coordination rules. */
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

/** A streamed piece of a reply. `name` is the tool to which the arguments or the input belong. */
export type CallDelta = {
  kind: "text" | "reasoning" | "tool_arguments" | "hosted_tool";
  name?: string;
  /** The position of the tool call among those of the reply. */
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
  /** Called with usage that the provider reports before the end. A cancelled call is charged it. */
  onUsage?: (usage: Usage) => void;
  /**
   * Called with a point from which the reply can be resumed after a lost connection. It is called
   * before the delta that belongs to the point.
   */
  onResumePoint?: (point: ResumePoint, alone: boolean) => void;
  /** Resumes a reply to the same request from this point. Omitted: sends the request. */
  from?: ResumePoint;
  /** Whether a request of this try was passed to the network. Omitted: always true. */
  wasSent?: () => boolean;
};

/** A reply with more tool calls is certainly a fault of the model. */
const MAX_TOOL_CALLS = 1_024;

/** Performs one try of a model call. Throws only the signal's reason. */
export async function performCall(options: CallOptions): Promise<PerformedCall> {
  // A resumed reply: the provider has accepted the request and begun the reply.
  const resumed = options.from !== undefined;
  const progress: Progress = { anyBytes: resumed, reply: resumed, usage: null };
  try {
    return await readStream(options, progress);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    const wasSent = resumed || (options.wasSent?.() ?? true);
    return { type: "failed", failure: toFailure(error, progress, wasSent) };
  }
}

/** How far a call has come. */
type Progress = {
  /** Whether bytes of a successful response were received; keep-alive comments count. */
  anyBytes: boolean;
  /** Whether a part of the reply itself was received. */
  reply: boolean;
  usage: Usage | null;
};
type Stop = Extract<ModelEvent, { type: "stop" }>;

async function readStream(options: CallOptions, progress: Progress): Promise<PerformedCall> {
  const { provider, request, signal, from } = options;
  const onBytes = () => {
    progress.anyBytes = true;
  };
  for await (const event of provider.stream(request, signal, onBytes, from)) {
    progress.anyBytes = true;
    progress.reply = true;
    const performed = forwardEvent(event, options, progress);
    if (performed) return performed;
  }
  signal.throwIfAborted();
  throw new ProviderError(
    "transient",
    "stream_cut",
    "The stream ended before the reply was complete.",
  );
}

/** Forwards an event. Returns the outcome if the reply is complete, else `null`. */
function forwardEvent(
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
  if (items.filter(({ type }) => type === "tool_call").length > MAX_TOOL_CALLS) {
    throw new ProviderError(
      "transient",
      "too_many_tool_calls",
      `The reply held more than ${MAX_TOOL_CALLS} tool calls.`,
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
  const failure = toKnownError(error);
  const { failureClass, code, message, details } = failure;
  return {
    class: failureClass,
    // CANNOT_REACH means that nothing was sent, but an earlier request of this try was sent.
    code: wasSent && code === CANNOT_REACH ? "connection_failed" : code,
    message,
    retryAfterMs: details.retryAfterMs ?? null,
    usage: progress.usage,
    reached: !isSurelyUnprocessed(failure, progress, wasSent),
  };
}

/**
 * Statuses of 500 and above which prove that no reply was begun. Other statuses prove nothing: a
 * gateway may send them after it stopped waiting for a running model.
 */
const NOT_BEGUN_STATUSES = new Set([500, 501, 502, 503, 521, 522, 523, 525, 526, 529, 530]);
/** Formally a refusal, but gateways also send it when they stop waiting for a running model. */
const REQUEST_TIMEOUT = 408;

/**
 * Whether it is certain that no model processed the call. If this is not certain, the call is
 * charged in full.
 */
function isSurelyUnprocessed(
  { details: { status } }: ProviderError,
  progress: Progress,
  wasSent: boolean,
): boolean {
  // After sending, a connection error proves nothing: refused and broken connections look the same.
  if (!wasSent) return true;
  if (status === undefined || status === REQUEST_TIMEOUT || progress.reply) return false;
  return progress.anyBytes
    ? status >= 400 && status < 500
    : (status >= 300 && status < 500) || NOT_BEGUN_STATUSES.has(status);
}

/** The message of an unclassified error is not logged, because it may contain API keys. */
function toKnownError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const explained = toProviderError(error, []);
  if (explained.failureClass === "interrupted") return explained;
  return new ProviderError(
    "transient",
    "unexpected",
    "The call failed for a reason the service does not know.",
  );
}
