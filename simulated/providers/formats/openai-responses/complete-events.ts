import { joined, newId, newSeal } from "../../continuity";
import type { WireReply, Json, Piece, ReadRequest, ChargedReply } from "../../dialect";
import type { HostedStep, ReportedUsage, Source } from "../../reply";
import { toItem } from "./request";
import { type Event, EventSchema, InputItemSchema } from "./schema";

/**
 * Adds what aimock omits: hosted tools, sources, event numbers, details of usage, and replies that
 * end early.
 */
export function completeEvents(
  events: readonly Json[],
  said: ChargedReply,
  { body }: ReadRequest,
): WireReply {
  const parsed = events.map((event) => EventSchema.parse(event));
  const isSilent = asksForSeal(body) && parsed.every(({ item }) => item?.type !== "reasoning");
  const added = [...(isSilent ? [silentReasoning()] : []), ...(said.hosted ?? []).map(hostedItem)];
  const place = parsed.findIndex(
    ({ type, item }) => type === "response.output_item.added" && item?.type !== "reasoning",
  );
  const at = place < 0 ? parsed.length - 1 : place;
  const first = parsed
    .slice(0, at)
    .filter(({ type }) => type === "response.output_item.added").length;
  const citations = annotationsOf(said);
  const whole = [
    ...parsed.slice(0, at),
    ...added.flatMap((item, index) => addedEvents(item, first + index)),
    ...parsed
      .slice(at)
      .map((event) => shifted(event, added.length))
      .flatMap((event) => cited(event, citations)),
  ];
  const output = whole.flatMap(({ type, item }) =>
    type === "response.output_item.done" && item ? [item] : [],
  );
  const ended = whole.map((event) =>
    event.type === "response.completed" ? ending(event, output, said) : event,
  );
  return {
    pieces: ended.map((event, index) => toPiece({ ...event, sequence_number: index })),
    given: joined(output.flatMap((item) => toItem(InputItemSchema.parse(item)) ?? [])),
  };
}

const shifted = (event: Event, by: number): Event =>
  event.output_index === undefined ? event : { ...event, output_index: event.output_index + by };

function toPiece(event: Event): Piece {
  const carries =
    /^response\.(output_text|reasoning_summary_text|function_call_arguments)\.delta$/.test(
      event.type,
    );
  const ends = event.type === "response.completed" || event.type === "response.incomplete";
  return { event: event.type, data: JSON.stringify(event), tokens: carries ? 1 : 0, usage: ends };
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
  reasoningTokens = 0,
}: ReportedUsage): Json => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: cachedTokens },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens,
});

type AddedItem = Json & { type: string; id: string };

const asksForSeal = (body: Json): boolean =>
  Array.isArray(body["include"]) && body["include"].includes("reasoning.encrypted_content");

const silentReasoning = (): AddedItem => ({
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
  // Results of a search stay with the provider; its sources are shown in the text's annotations.
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
  const written = [
    { type: "response.code_interpreter_call_code.delta", ...base, delta: item["code"] },
    { type: "response.code_interpreter_call_code.done", ...base, code: item["code"] },
  ];
  const steps = [
    step("in_progress"),
    ...(isCode ? [...written, step("interpreting")] : [step("searching")]),
    step("completed"),
  ];
  const events = [
    { type: "response.output_item.added", output_index, item: { ...empty, status: "in_progress" } },
    ...(type === "reasoning" ? [] : steps),
    { type: "response.output_item.done", output_index, item },
  ];
  return events.map((event) => EventSchema.parse(event));
}

/** Positions count characters. A source whose passage is not in the text refers to all of it. */
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
 * The sources of the text: one by one before its end, and together wherever the text is repeated.
 */
function cited(event: Event, annotations: Json[]): Event[] {
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
