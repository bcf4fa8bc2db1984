import type { Citation } from "../../protocol/hosted-tools";
import type { StopReason, Usage } from "../../protocol/events";
import { classify } from "../errors";
import { hostedFields, withHostedUses } from "../hosted";
import { MAX_CITATIONS } from "../call-limits";
import { type ModelEvent, ProviderError, type ResumePoint } from "../provider";
import { CALL_CHARS, replySize, reportedCount } from "../reply-size";
import { countUses, createLiveItems, type LiveItems, returnedHostedItem } from "./hosted-items";
import { readOutput, toCitation } from "./output";
import { type Fields, fieldsOf, outputOf, PART_BREAK, positionOf, textOf } from "./schema";

export type Decoder = {
  /**
   * Decodes one parsed event. Throws only if the reply exceeds the size limit. Unknown events are
   * ignored.
   */
  push(value: unknown): ModelEvent[];
  /** Whether the reply is complete or failed. Later events are ignored. */
  isOver(): boolean;
  /** The provider's id of the reply; "" until it is known. */
  replyId(): string;
  /** The reply's `stop`. Throws the provider's error, or `stream_cut` if the end is missing. */
  end(): ModelEvent;
};

type DecoderOptions = {
  takenIds: ReadonlySet<string>;
  secrets: readonly string[];
  /** Whether to yield resume points. */
  yieldsPoints: boolean;
  /** The point from which this stream resumes; omitted for a stream from the start. */
  from?: ResumePoint | undefined;
};

type State = {
  id: string;
  /** Whether reasoning was shown already. More reasoning then starts a new part. */
  hasReasoning: boolean;
  live: LiveItems;
  /** Finished items by their position in the output. */
  doneItems: Map<number, Fields>;
  citations: Citation[];
  grow: (chars: number) => void;
  /** The response object of the final event; `null` before that event. */
  final: Fields | null;
  /** The error of the provider; `null` if it reported none. */
  error: unknown;
};

/**
 * Assembles a streamed reply. Deltas are passed on and not stored, because the final response
 * contains the whole reply. If a server omits that response, the finished items are used.
 */
export function createDecoder({ takenIds, secrets, yieldsPoints, from }: DecoderOptions): Decoder {
  const state: State = {
    id: from?.id ?? "",
    hasReasoning: false,
    live: createLiveItems(from !== undefined),
    doneItems: new Map(),
    citations: [],
    grow: replySize(),
    final: null,
    error: null,
  };
  return {
    isOver: () => state.final !== null,
    replyId: () => state.id,
    push(value) {
      const event = fieldsOf(value);
      const idBefore = state.id;
      const events = eventsOf(state, event);
      const isAlone = events.length === 0;
      const point =
        yieldsPoints && (!isAlone || state.id !== idBefore) ? pointAt(state, event, isAlone) : null;
      // the point comes first, so that it is stored together with its events
      return point ? [point, ...events] : events;
    },
    end() {
      if (state.error) throw classify({ status: undefined, body: { error: state.error } }, secrets);
      if (!state.final) {
        throw new ProviderError(
          "transient",
          "stream_cut",
          "The stream ended before the reply was complete.",
        );
      }
      return toStop(state, state.final, takenIds);
    },
  };
}

function eventsOf(state: State, event: Fields): ModelEvent[] {
  const response = fieldsOf(event["response"]);
  switch (event["type"]) {
    case "response.created":
    case "response.queued":
    case "response.in_progress":
      state.id ||= textOf(response["id"]);
      return [];
    case "response.output_text.delta":
      return showText(state, "text", event["delta"]);
    case "response.reasoning_summary_part.added":
      return isLater(event["summary_index"]) ? showText(state, "reasoning", PART_BREAK) : [];
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return showText(state, "reasoning", event["delta"]);
    case "response.function_call_arguments.delta":
    case "response.code_interpreter_call_code.delta":
    case "response.custom_tool_call_input.delta":
      return showInput(state, event);
    case "response.output_item.added":
      return beginItem(state, event);
    case "response.output_item.done":
      return finishItem(state, event);
    case "response.output_text.annotation.added":
      return storeCitation(state, fieldsOf(event["annotation"]));
    case "response.completed":
    case "response.done":
    case "response.incomplete":
      return finish(state, response);
    case "response.failed":
    case "response.cancelled":
      return fail(
        state,
        response,
        response["error"] ?? { message: `The provider's reply ended as ${String(event["type"])}.` },
      );
    case "error":
      return fail(state, {}, event["error"] ?? event);
    default:
      return [];
  }
}

/** Whether the value is an index other than the first. */
const isLater = (index: unknown): boolean => typeof index === "number" && index > 0;

function showText(state: State, type: "text" | "reasoning", delta: unknown): ModelEvent[] {
  const text = textOf(delta);
  if (text === "") return [];
  state.grow(text.length);
  state.hasReasoning ||= type === "reasoning";
  return [{ type, text }];
}

function showInput({ grow, live }: State, event: Fields): ModelEvent[] {
  const text = textOf(event["delta"]);
  grow(text.length);
  return live.delta(positionOf(event), text);
}

function beginItem(state: State, event: Fields): ModelEvent[] {
  state.grow(CALL_CHARS);
  const item = fieldsOf(event["item"]);
  if (item["type"] === "reasoning")
    return state.hasReasoning ? showText(state, "reasoning", PART_BREAK) : [];
  return state.live.begin(positionOf(event), item);
}

function finishItem({ grow, doneItems, live }: State, event: Fields): ModelEvent[] {
  const item = returnedHostedItem(fieldsOf(event["item"]));
  const position = positionOf(event);
  grow(CALL_CHARS + JSON.stringify(item).length);
  // Without a position: order of arrival
  doneItems.set(position < 0 ? doneItems.size : position, item);
  return live.done(position, item);
}

function storeCitation({ citations }: State, annotation: Fields): ModelEvent[] {
  if (annotation["type"] === "url_citation" && citations.length < MAX_CITATIONS)
    citations.push(toCitation(annotation));
  return [];
}

function finish(state: State, response: Fields): ModelEvent[] {
  state.final = response;
  const usage = usageOf(response, outputIn(state, response));
  return usage ? [{ type: "usage", usage }] : [];
}

function fail(state: State, response: Fields, error: unknown): ModelEvent[] {
  state.error = error;
  return finish(state, response);
}

/**
 * The resume point after this event. `null` after the end of the reply, because nothing is left to
 * resume.
 */
function pointAt({ id, final }: State, event: Fields, isAlone: boolean): ModelEvent | null {
  const after = event["sequence_number"];
  return final || id === "" || typeof after !== "number"
    ? null
    : { type: "resume_point", point: { id, after }, alone: isAlone };
}

function toStop(state: State, final: Fields, takenIds: ReadonlySet<string>): ModelEvent {
  const output = outputIn(state, final);
  const { items, hosted, citations, refused } = readOutput(output, takenIds);
  const hasCalls = items.some(({ type }) => type === "tool_call");
  return {
    type: "stop",
    reason: toStopReason(final, { hasCalls, refused }),
    items,
    usage: usageOf(final, output),
    ...hostedFields(hosted, citations.length > 0 ? citations : state.citations),
  };
}

const outputIn = ({ doneItems }: State, response: Fields): Fields[] =>
  outputOf(response) ?? [...doneItems].sort(([a], [b]) => a - b).map(([, item]) => item);

function usageOf(response: Fields, output: readonly Fields[]): Usage | null {
  const usage = decodeUsage(response["usage"]);
  return usage && withHostedUses(usage, countUses(output));
}

const INCOMPLETE_REASONS: Readonly<Record<string, StopReason>> = {
  max_output_tokens: "length",
  max_tokens: "length",
  content_filter: "content_filter",
};

/** The stop reason of a response that is complete or incomplete. */
function toStopReason(
  response: Fields,
  found: { hasCalls: boolean; refused: boolean },
): StopReason {
  if (response["status"] === "incomplete") {
    const reason = textOf(fieldsOf(response["incomplete_details"])["reason"]);
    return (
      (Object.hasOwn(INCOMPLETE_REASONS, reason) ? INCOMPLETE_REASONS[reason] : undefined) ??
      "unknown"
    );
  }
  if (found.hasCalls) return "tool_calls";
  return found.refused ? "refusal" : "stop";
}

/** The reported usage; `null` if the value contains none. */
export function decodeUsage(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  const input = reportedCount(usage["input_tokens"]);
  const reportedOutput = reportedCount(usage["output_tokens"]);
  const total = reportedCount(usage["total_tokens"]);
  if (input === 0 && reportedOutput === 0 && total === 0) return null;
  // Tokens that a server omits from `output_tokens` and includes in the total are billed as output.
  const output = Math.max(reportedOutput, total - input);
  const details = fieldsOf(usage["input_tokens_details"]);
  const cachedTokens = Math.min(reportedCount(details["cached_tokens"]), input);
  const cacheWriteTokens = Math.min(
    reportedCount(details["cache_write_tokens"]),
    input - cachedTokens,
  );
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: Math.min(
      reportedCount(fieldsOf(usage["output_tokens_details"])["reasoning_tokens"]),
      output,
    ),
    cached_tokens: cachedTokens,
    ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
  };
}
