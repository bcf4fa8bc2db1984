import { type Item, joined } from "../../../../simulated/providers/continuity";
import {
  sseFrame,
  toCallItem,
  chunksOf,
  type Search,
  type ReplyContent,
  type Encoder,
} from "./frame";

/** Encodes a reply as a stream of Anthropic's Messages API. */
export const encodeAnthropic: Encoder = (reply) => {
  const { id, model, text, calls, searches, finish, usage } = reply;
  const blocks = [
    ...searches.flatMap((search, index) => searchBlocks(search, `srvtoolu_${id}${index}`)),
    ...(text === ""
      ? []
      : [
          {
            start: { type: "text", text: "" },
            deltas: [...textDeltas(text), ...sourceDeltas(reply)],
          },
        ]),
    ...calls.map(({ name, arguments: args }, index) => ({
      start: { type: "tool_use", id: `toolu_${id}${index}`, name, input: {} },
      deltas: chunksOf(args).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    })),
  ];
  const usageFields = usage
    ? { ...usageOf(usage), server_tool_use: { web_search_requests: searches.length } }
    : {};
  const stopReason =
    finish === "length"
      ? "max_tokens"
      : finish === "content_filter"
        ? "refusal"
        : calls.length > 0
          ? "tool_use"
          : "end_turn";
  const message = {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
  };
  const events = [
    {
      type: "message_start",
      message: { ...message, usage: usage ? { ...usageFields, output_tokens: 1 } : {} },
    },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: usageFields,
    },
    { type: "message_stop" },
  ];
  return { frames: events.map((event) => sseFrame(event, event.type)), items: itemsIn(reply) };
};

const textDeltas = (text: string) =>
  chunksOf(text).map((chunk) => ({ type: "text_delta", text: chunk }));

/** The number of web searches that a request allows; 0 for requests in other formats. */
export function maxSearches(body: string): number {
  const { tools = [] }: { tools?: { name?: string; max_uses?: number }[] } = JSON.parse(body);
  return tools.find(({ name }) => name === "web_search")?.max_uses ?? 0;
}

/** The two blocks of a search: the query, and its result. */
function searchBlocks({ query, url, title }: Search, id: string) {
  const found = {
    type: "web_search_result",
    url,
    title,
    encrypted_content: `sealed ${id}`,
    page_age: null,
  };
  return [
    {
      start: { type: "server_tool_use", id, name: "web_search", input: {} },
      deltas: chunksOf(JSON.stringify({ query })).map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      })),
    },
    { start: { type: "web_search_tool_result", tool_use_id: id, content: [found] }, deltas: [] },
  ];
}

const sourceDeltas = ({ searches, text }: ReplyContent) =>
  searches.map(({ url, title }) => {
    const source = { cited_text: text.slice(0, 40), encrypted_index: `sealed ${url}` };
    return {
      type: "citations_delta",
      citation: { type: "web_search_result_location", url, title, ...source },
    };
  });

function itemsIn({ id, text, calls, searches }: ReplyContent): Item[] {
  const searchItems = searches.flatMap((search, index): Item[] => {
    const [use, result] = searchBlocks(search, `srvtoolu_${id}${index}`);
    const content = JSON.stringify(result?.start.content);
    return [
      { kind: "hosted", id: use?.start.id ?? "", content: JSON.stringify({ query: search.query }) },
      { kind: "hosted", id: `${use?.start.id} result`, content },
    ];
  });
  const callItems = calls.map((call, index) =>
    toCallItem(`toolu_${id}${index}`, call.name, compact(call.arguments)),
  );
  return joined([...searchItems, { kind: "text", id: "", content: text }, ...callItems]);
}

/** JSON text without optional white space. Invalid JSON stays as it is. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

const usageOf = ({ input, output, cached }: NonNullable<ReplyContent["usage"]>) => ({
  input_tokens: input - cached,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: 0,
  output_tokens: output,
});
