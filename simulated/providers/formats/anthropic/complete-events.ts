import { callItem, type Item, joined, newId, newSeal } from "../../continuity";
import type { WireReply, Json, Piece, ReadRequest, ChargedReply } from "../../dialect";
import { CHARACTERS_PER_TOKEN, type HostedStep } from "../../reply";
import { toItem } from "./request";
import { type Block, BlockSchema, type Event, EventSchema } from "./schema";

/**
 * Adds the parts of the format that aimock omits: hidden thinking, hosted tools, sources, raw
 * arguments and complete usage.
 */
export function completeEvents(
  events: readonly Json[],
  chargedReply: ChargedReply,
  { asked }: ReadRequest,
): WireReply {
  const parsed = events.map((event) => EventSchema.parse(event));
  const firstVisible = parsed.findIndex(
    ({ content_block }) => content_block !== undefined && content_block.type !== "thinking",
  );
  // Without visible content: before the two events that end a message.
  const insertAt = firstVisible < 0 ? parsed.length - 2 : firstVisible;
  const hiddenThinking = asked.thinks && !chargedReply.reasoning ? [hiddenThinkingBlock()] : [];
  const added = [...hiddenThinking, ...hostedBlocks(chargedReply)];
  const blocksBefore = parsed
    .slice(0, insertAt)
    .filter(({ type }) => type === "content_block_start").length;
  const whole = [
    ...parsed.slice(0, insertAt),
    ...added.flatMap((block, index) => blockEvents(block, blocksBefore + index)),
    ...withSources(
      withRawArguments(
        parsed.slice(insertAt).map((event) => shifted(event, added.length)),
        chargedReply,
      ),
      chargedReply,
    ),
  ];
  return {
    pieces: whole.map((event) => toPiece(event, chargedReply)),
    originalItems: originalItemsIn(whole, chargedReply),
  };
}

/** Increases the index of a block, because `by` blocks were inserted before it. */
const shifted = (event: Event, by: number): Event =>
  event.index === undefined ? event : { ...event, index: event.index + by };

function toPiece(event: Event, chargedReply: ChargedReply): Piece {
  const { text, thinking, partial_json } = event.delta ?? {};
  const counts = Boolean(text || thinking || partial_json) && event["hosted"] === undefined;
  return {
    event: event.type,
    data: JSON.stringify(toWire(event, chargedReply)),
    tokens: counts ? 1 : 0,
    usage: event.type === "message_delta",
  };
}

function toWire({ hosted: _, ...event }: Event, chargedReply: ChargedReply): Json {
  const { message, delta } = event;
  if (event.type === "message_start")
    return {
      ...event,
      message: { ...message, usage: { ...usageOf(chargedReply), output_tokens: 1 } },
    };
  if (event.type !== "message_delta") return event;
  const refused = chargedReply.finishReason === "content_filter" && { stop_reason: "refusal" };
  return { ...event, delta: { ...delta, ...refused }, usage: usageOf(chargedReply) };
}

/** In this format, `input_tokens` does not include cached tokens. */
function usageOf({ usage, hosted = [] }: ChargedReply): Json {
  const {
    inputTokens,
    outputTokens,
    cachedTokens = 0,
    cacheWriteTokens = 0,
    reasoningTokens = 0,
  } = usage;
  const searches = hosted.filter(({ name }) => name === "web_search").length;
  return {
    input_tokens: inputTokens - cachedTokens - cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
    server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 },
  };
}

const hiddenThinkingBlock = (): Block => ({ type: "thinking", thinking: "", signature: newSeal() });

/** Each run of a hosted tool is two blocks: one with the input, one with the result. */
const hostedBlocks = (chargedReply: ChargedReply): Block[] =>
  (chargedReply.hosted ?? []).flatMap((step) => stepBlocks(step, chargedReply));

function stepBlocks(
  { name, input, output }: HostedStep,
  { citations = [] }: ChargedReply,
): [Block, Block] {
  const id = newId("srvtoolu_");
  if (name === "code_execution") {
    const content = {
      type: "bash_code_execution_result",
      stdout: output,
      stderr: "",
      return_code: 0,
      content: [],
    };
    return [
      { type: "server_tool_use", id, name: "bash_code_execution", input: { command: input } },
      { type: "bash_code_execution_tool_result", tool_use_id: id, content },
    ];
  }
  const found = citations.length > 0 ? citations : [{ url: "https://example.com/", title: output }];
  const results = found.map(({ url, title }) => ({
    type: "web_search_result",
    url,
    title,
    encrypted_content: newSeal(),
    page_age: null,
  }));
  return [
    { type: "server_tool_use", id, name, input: { query: input } },
    { type: "web_search_tool_result", tool_use_id: id, content: results },
  ];
}

function blockEvents(block: Block, index: number): Event[] {
  const { type, input, signature } = block;
  const deltas =
    type === "thinking"
      ? [{ type: "signature_delta", signature }]
      : type === "server_tool_use"
        ? [{ type: "input_json_delta", partial_json: JSON.stringify(input) }]
        : [];
  const start = {
    ...block,
    ...(type === "server_tool_use" && { input: {} }),
    ...(type === "thinking" && { signature: "" }),
  };
  return [
    EventSchema.parse({ type: "content_block_start", index, content_block: start }),
    ...deltas.map((delta) =>
      EventSchema.parse({ type: "content_block_delta", index, delta, hosted: true }),
    ),
    { type: "content_block_stop", index },
  ];
}

/**
 * Replaces the arguments by those of the script. aimock reformats arguments, but a real model may
 * write any text, also invalid JSON.
 */
function withRawArguments(events: readonly Event[], { calls }: ChargedReply): Event[] {
  return events.flatMap((event): Event[] => {
    if (event.delta?.type === "input_json_delta") return [];
    const call =
      event.content_block?.type === "tool_use"
        ? calls.find(({ id }) => id === event.content_block?.id)
        : undefined;
    if (!call) return [event];
    const deltas = piecesOf(call.arguments).map((partial_json) => ({
      type: "input_json_delta",
      partial_json,
    }));
    return [
      event,
      ...deltas.map((delta) =>
        EventSchema.parse({ type: "content_block_delta", index: event.index, delta }),
      ),
    ];
  });
}

const piecesOf = (text: string): string[] =>
  Array.from({ length: Math.ceil(text.length / CHARACTERS_PER_TOKEN) }, (_, at) =>
    text.slice(at * CHARACTERS_PER_TOKEN, (at + 1) * CHARACTERS_PER_TOKEN),
  );

/** Adds the citations to each text block. */
function withSources(
  events: readonly Event[],
  { citations = [], text = "" }: ChargedReply,
): Event[] {
  return events.flatMap((event): Event[] => {
    if (event.content_block?.type !== "text" || citations.length === 0) return [event];
    const sources = citations.map(({ url, title, text: passage = text }) => {
      const citation = {
        type: "web_search_result_location",
        url,
        title,
        cited_text: passage.slice(0, 150),
        encrypted_index: newSeal(),
      };
      return {
        type: "content_block_delta",
        index: event.index,
        delta: { type: "citations_delta", citation },
      };
    });
    return [
      { ...event, content_block: { ...event.content_block, citations: [] } },
      ...sources.map((source) => EventSchema.parse(source)),
    ];
  });
}

/** The items of the blocks that a client assembles from the stream. */
function originalItemsIn(events: readonly Event[], { calls }: ChargedReply): Item[] {
  const blocks = new Map<number, Block>();
  for (const { index = -1, content_block, delta } of events) {
    const block = content_block ?? blocks.get(index);
    if (block) blocks.set(index, extended(block, delta));
  }
  const callItems = new Map(
    calls.map((call) => [call.id, callItem(call.id, call.name, compact(call.arguments))]),
  );
  return joined(
    [...blocks.values()].flatMap((block) => callItems.get(block.id ?? "") ?? toItem(block) ?? []),
  );
}

function extended(block: Block, delta: Event["delta"]): Block {
  if (!delta) return block;
  const { text = "", thinking = "", signature = "", partial_json = "" } = delta;
  return BlockSchema.parse({
    ...block,
    ...(text && { text: (block.text ?? "") + text }),
    ...(thinking && { thinking: (block.thinking ?? "") + thinking }),
    ...(signature && { signature }),
    ...(partial_json && block.type === "server_tool_use" && { input: JSON.parse(partial_json) }),
  });
}

/** Removes the white space between the tokens of JSON. Text that is not JSON stays as it is. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
