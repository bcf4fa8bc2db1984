import { joined, newId, newSeal } from "../../continuity";
import type { WireReply, Json, Piece, ReadRequest, ChargedReply } from "../../dialect";
import type { HostedStep, ReportedUsage, Source } from "../../reply";
import { toItem } from "./request";
import { type Event, EventSchema, InputItemSchema } from "./schema";

/**
 * Adds the parts of the format that aimock omits: hosted tools, sources, event numbers, details of
 * usage, and the end of an incomplete reply.
 */
export function completeEvents(
  events: readonly Json[],
  chargedReply: ChargedReply,
  { body }: ReadRequest,
): WireReply {
  const parsed = events.map((event) => EventSchema.parse(event));
  const needsHiddenReasoning =
    asksForSeal(body) && parsed.every(({ item }) => item?.type !== "reasoning");
  const added = [
    ...(needsHiddenReasoning ? [hiddenReasoning()] : []),
    ...(chargedReply.hosted ?? []).map(hostedItem),
  ];
  const firstVisible = parsed.findIndex(
    ({ type, item }) => type === "response.output_item.added" && item?.type !== "reasoning",
  );
  const insertAt = firstVisible < 0 ? parsed.length - 1 : firstVisible;
  const itemsBefore = parsed
    .slice(0, insertAt)
    .filter(({ type }) => type === "response.output_item.added").length;
  const citations = annotationsOf(chargedReply);
  const whole = [
    ...parsed.slice(0, insertAt),
    ...added.flatMap((item, index) => addedEvents(item, itemsBefore + index)),
    ...parsed
      .slice(insertAt)
      .map((event) => shifted(event, added.length))
      .flatMap((event) => withAnnotations(event, citations)),
  ];
  const output = whole.flatMap(({ type, item }) =>
    type === "response.output_item.done" && item ? [item] : [],
  );
  const complete = whole.map((event) =>
    event.type === "response.completed" ? ending(event, output, chargedReply) : event,
  );
  return {
    pieces: complete.map((event, index) => toPiece({ ...event, sequence_number: index })),
    originalItems: joined(output.flatMap((item) => toItem(InputItemSchema.parse(item)) ?? [])),
  };
}

/** Increases the index of an output item, because `by` items were inserted before it. */
const shifted = (event: Event, by: number): Event =>
  event.output_index === undefined ? event : { ...event, output_index: event.output_index + by };

function toPiece(event: Event): Piece {
  const hasOutput =
    /^response\.(output_text|reasoning_summary_text|function_call_arguments)\.delta$/.test(
      event.type,
    );
  const isEnd = event.type === "response.completed" || event.type === "response.incomplete";
  return {
    event: event.type,
    data: JSON.stringify(event),
    tokens: hasOutput ? 1 : 0,
    usage: isEnd,
  };
}

function ending(
  { response, ...event }: Event,
  output: Json[],
  { finishReason, usage }: ChargedReply,
): Event {
  const reason =
    finishReason === "length"
      ? "max_output_tokens"
      : finishReason === "content_filter"
        ? finishReason
        : null;
  const status = reason ? "incomplete" : "completed";
  const details = { incomplete_details: reason && { reason }, error: null, usage: usageOf(usage) };
  return EventSchema.parse({
    ...event,
    type: `response.${status}`,
    response: { ...response, status, ...details, output },
  });
}

const usageOf = ({
  inputTokens,
  outputTokens,
  cachedTokens = 0,
  cacheWriteTokens = 0,
  reasoningTokens = 0,
}: ReportedUsage): Json => ({
  input_tokens: inputTokens,
  input_tokens_details: {
    cached_tokens: cachedTokens,
    ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
  },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens,
});

type AddedItem = Json & { type: string; id: string };

/** Whether the client requests encrypted reasoning, to send it back later. */
const asksForSeal = (body: Json): boolean =>
  Array.isArray(body["include"]) && body["include"].includes("reasoning.encrypted_content");

const hiddenReasoning = (): AddedItem => ({
  type: "reasoning",
  id: newId("rs_"),
  summary: [],
  encrypted_content: newSeal(),
});

function hostedItem({ name, input, output }: HostedStep): AddedItem {
  if (name === "code_execution") {
    const outputs = [{ type: "logs", logs: output }];
    return {
      type: "code_interpreter_call",
      id: newId("ci_"),
      status: "completed",
      container_id: newId("cntr_"),
      code: input,
      outputs,
    };
  }
  // A search item has no results. The annotations of the text contain the sources.
  return {
    type: "web_search_call",
    id: newId("ws_"),
    status: "completed",
    action: { type: "search", query: input, queries: [input] },
  };
}

function addedEvents(item: AddedItem, output_index: number): Event[] {
  const { type, id } = item;
  const base = { output_index, item_id: id };
  const step = (name: string, more: Json = {}) => ({
    type: `response.${type}.${name}`,
    ...base,
    ...more,
  });
  const isCode = type === "code_interpreter_call";
  const empty = isCode ? { ...item, code: "", outputs: null } : { type, id, status: "in_progress" };
  const codeEvents = [
    { type: "response.code_interpreter_call_code.delta", ...base, delta: item["code"] },
    { type: "response.code_interpreter_call_code.done", ...base, code: item["code"] },
  ];
  const steps = [
    step("in_progress"),
    ...(isCode ? [...codeEvents, step("interpreting")] : [step("searching")]),
    step("completed"),
  ];
  const events = [
    { type: "response.output_item.added", output_index, item: { ...empty, status: "in_progress" } },
    ...(type === "reasoning" ? [] : steps),
    { type: "response.output_item.done", output_index, item },
  ];
  return events.map((event) => EventSchema.parse(event));
}

/**
 * The annotations of a text, one for each source. Positions count characters. If the passage of a
 * source is not in the text, its annotation begins at the start of the text.
 */
function annotationsOf({ citations = [], text = "" }: ChargedReply): Json[] {
  return citations.map(({ url, title, text: passage = text }: Source) => {
    const start = Math.max(0, text.indexOf(passage));
    return {
      type: "url_citation",
      url,
      title,
      start_index: start,
      end_index: Math.min(text.length, start + passage.length),
    };
  });
}

/**
 * Adds the annotations to the stream: as one event each before the end of the text, and as a list
 * in each later event that repeats the text.
 */
function withAnnotations(event: Event, annotations: Json[]): Event[] {
  if (annotations.length === 0) return [event];
  const place = { item_id: event.item_id, output_index: event.output_index, content_index: 0 };
  const type = "response.output_text.annotation.added";
  switch (event.type) {
    case "response.output_text.done":
      return [
        ...annotations.map((annotation, annotation_index) => ({
          type,
          ...place,
          annotation_index,
          annotation,
        })),
        event,
      ];
    case "response.content_part.done":
      return [{ ...event, part: { ...event.part, annotations } }];
    case "response.output_item.done": {
      if (event.item?.type !== "message") return [event];
      return [
        {
          ...event,
          item: {
            ...event.item,
            content: (event.item.content ?? []).map((part) => ({ ...part, annotations })),
          },
        },
      ];
    }
    default:
      return [event];
  }
}
