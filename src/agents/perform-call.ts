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

/** How a call ended; both are inputs to the rules. */
export type Performed =
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

/** `name`: of the tool whose arguments or input this is. */
export type CallDelta = {
  kind: "text" | "reasoning" | "tool_arguments" | "hosted_tool";
  name?: string;
  toolIndex?: number;
  /** The provider's id of that tool call. */
  toolId?: string;
  text: string;
};

export type CallOptions = {
  provider: Provider;
  request: ModelRequest;
  signal: AbortSignal;
  /** Called synchronously for each piece, in order. */
  onDelta: (delta: CallDelta) => void;
  /** Usage known before the end; should the call be cancelled, it is charged this. */
  onUsage?: (usage: Usage) => void;
  /** From here the reply can be taken up again, should the connection be lost; told before the delta it counts with, if any. */
  onResumePoint?: (point: ResumePoint, alone: boolean) => void;
  /** Takes a reply to the same request up again instead of asking anew. */
  from?: ResumePoint;
  /** Whether a request of this try was handed to the network; absent, it is taken that one was. */
  wasSent?: () => boolean;
};

/** More calls in one reply than any model means; what asks for so many has lost its way. */
const MOST_TOOL_CALLS = 1_024;

/** Performs one try of a model call. Never throws, except what the signal was aborted with. */
export async function performCall(options: CallOptions): Promise<Performed> {
  const resumed = options.from !== undefined; // then its first part was heard before, and worked on
  const heard: Heard = { anything: resumed, reply: resumed, usage: null };
  try {
    return await listen(options, heard);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    const wasSent = resumed || (options.wasSent?.() ?? true);
    return { type: "failed", failure: toFailure(error, heard, wasSent) };
  }
}

/** What a failed call is known to have got as far as. */
type Heard = {
  /** Bytes of a body that was no refusal, be it keep-alive comments. */
  anything: boolean;
  /** A piece of the reply itself. */
  reply: boolean;
  usage: Usage | null;
};
type Stop = Extract<ModelEvent, { type: "stop" }>;

async function listen(options: CallOptions, heard: Heard): Promise<Performed> {
  const { provider, request, signal, from } = options;
  const onHeard = () => {
    heard.anything = true;
  };
  for await (const event of provider.stream(request, signal, onHeard, from)) {
    heard.anything = true;
    heard.reply = true;
    const performed = take(event, options, heard);
    if (performed) return performed;
  }
  signal.throwIfAborted();
  throw new ProviderError(
    "transient",
    "stream_cut",
    "The stream ended before the reply was complete.",
  );
}

/** Passes on what came; answers the reply once it is complete. */
function take(
  event: ModelEvent,
  { onDelta, onUsage, onResumePoint }: CallOptions,
  heard: Heard,
): Performed | null {
  switch (event.type) {
    case "stop":
      return toPerformed(event, heard);
    case "usage":
      heard.usage = event.usage;
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
  heard: Heard,
): Performed {
  heard.usage = usage ?? heard.usage;
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
    usage: heard.usage,
    hosted,
    citations,
  };
}

function toFailure(error: unknown, heard: Heard, wasSent: boolean): CallFailure {
  const failure = known(error);
  const { failureClass, code, message, details } = failure;
  return {
    class: failureClass,
    // A request of this try had left before: that its provider cannot be reached now proves nothing about it.
    code: wasSent && code === CANNOT_REACH ? "connection_failed" : code,
    message,
    retryAfterMs: details.retryAfterMs ?? null,
    usage: heard.usage,
    reached: !isUnworked(failure, heard, wasSent),
  };
}

/** Statuses of 500 and above that say that no reply was begun; what else a gateway says may be that it no longer waited. */
const NOT_BEGUN = new Set([500, 501, 502, 503, 521, 522, 523, 525, 526, 529, 530]);
/** A refusal by its number only: a gateway says so too when it no longer waited for a model. */
const GAVE_UP = 408;

/** Whether it is certain that no model worked on the call. Where nobody knows, it stays charged in full. */
function isUnworked(
  { details: { status } }: ProviderError,
  heard: Heard,
  wasSent: boolean,
): boolean {
  if (!wasSent) return true; // a connection that is lost later says nothing: refused and broken ones look alike
  if (status === undefined || status === GAVE_UP || heard.reply) return false;
  return heard.anything
    ? status >= 400 && status < 500
    : (status >= 300 && status < 500) || NOT_BEGUN.has(status);
}

/** A throw that no adapter explained may hold anything, keys too, so its words stay out of the log. */
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
