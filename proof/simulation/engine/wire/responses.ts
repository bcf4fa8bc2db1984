import { joined } from "../../../../simulated/providers/continuity";
import { sseFrame, toCallItem, chunksOf, type ReplyContent, type Encoder } from "./frame";

/** Encodes a reply as a stream of OpenAI's Responses API. */
export const encodeResponses: Encoder = (reply) => {
  const { id, model, text, calls, finish, usage } = reply;
  const items = [
    ...(text === "" ? [] : [message(`msg_${id}`, text)]),
    ...calls.map((call, index) => ({
      type: "function_call",
      id: `fc_${id}${index}`,
      call_id: `call_${id}${index}`,
      ...call,
      status: "completed",
    })),
  ];
  const response = {
    id: `resp_${id}`,
    object: "response",
    model,
    status: "in_progress",
    output: [],
  };
  const status = finish === "stop" ? "completed" : "incomplete";
  const reason = finish === "length" ? "max_output_tokens" : finish;
  const events = [
    { type: "response.created", response },
    ...items.flatMap(toEvents),
    {
      type: `response.${status}`,
      response: {
        ...response,
        status,
        output: items,
        incomplete_details: finish === "stop" ? null : { reason },
        error: null,
        usage: usage && usageOf(usage),
      },
    },
  ];
  return {
    frames: events.map((event, sequence_number) =>
      sseFrame({ ...event, sequence_number }, event.type),
    ),
    items: joined([
      { kind: "text", id: "", content: text },
      ...calls.map((call, index) => toCallItem(`call_${id}${index}`, call.name, call.arguments)),
    ]),
  };
};

type OutputItem = { type: string; id: string; arguments?: string; content?: { text: string }[] };

const message = (id: string, text: string) => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});

function toEvents(item: OutputItem, output_index: number): { type: string }[] {
  const place = { item_id: item.id, output_index };
  const isCall = item.type === "function_call";
  const text = item.arguments ?? item.content?.[0]?.text ?? "";
  const name = isCall ? "response.function_call_arguments" : "response.output_text";
  const at = isCall ? {} : { content_index: 0 };
  return [
    {
      type: "response.output_item.added",
      ...{ output_index, item: { ...item, ...(isCall ? { arguments: "" } : { content: [] }) } },
    },
    ...chunksOf(text).map((delta) => ({ type: `${name}.delta`, ...place, ...at, delta })),
    { type: `${name}.done`, ...place, ...at, ...(isCall ? { arguments: text } : { text }) },
    { type: "response.output_item.done", ...{ output_index, item } },
  ];
}

const usageOf = ({ input, output, cached }: NonNullable<ReplyContent["usage"]>) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
});
