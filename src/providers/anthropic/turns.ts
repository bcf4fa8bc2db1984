import { fittingName } from "../call-ids";
import { isJsonObject, parseJson } from "../json";
import { type Part, PDF_TYPE, rejectPart } from "../attachment-parts";
import type { Message, ModelRequest, ReplyItem } from "../provider";
import { blockOf } from "./hosted-uses";
import { type Fields, fieldsOf, textOf } from "./schema";
import { settleServerBlocks, type Turn } from "./blocks";

/**
 * The conversation in the API's form: alternating user and assistant turns, tool results first in
 * the message after their calls, no blank text. Assistant content is sent back block by block,
 * unchanged.
 */
export function toTurns({
  messages,
  hostedTools,
}: Pick<ModelRequest, "messages" | "hostedTools">): Turn[] {
  const turns = resultsFirst(merged(messages.map(toTurn)));
  const offered = new Set(hostedTools.map(({ name }) => name));
  return resultsFirst(merged(settleServerBlocks(turns, offered)));
}

function toTurn(message: Message): Turn {
  switch (message.role) {
    case "user":
      return {
        role: "user",
        blocks: [
          ...markAttachments((message.parts ?? []).flatMap(toPart)),
          ...toText(message.text),
        ],
      };
    case "tool":
      return { role: "user", blocks: [toResult(message)] };
    case "assistant":
      return { role: "assistant", blocks: message.items.flatMap(toBlocks) };
  }
}

/** The API refuses empty and blank texts. */
const toText = (text: string): Fields[] => (text.trim() === "" ? [] : [{ type: "text", text }]);

function toPart(part: Part): Fields[] {
  switch (part.type) {
    case "text":
      return toText(part.text);
    case "image":
      return [
        {
          type: "image",
          source: { type: "base64", media_type: part.mediaType, data: part.base64 },
        },
      ];
    case "pdf":
      return [
        {
          type: "document",
          source: { type: "base64", media_type: PDF_TYPE, data: part.base64 },
          title: part.name,
        },
      ];
    case "audio":
      return rejectPart(part);
  }
}

/** A result may be empty, unless the tool failed. */
function toResult({ toolCallId, text, isError }: Extract<Message, { role: "tool" }>): Fields {
  const result = { type: "tool_result", tool_use_id: toolCallId };
  if (isError)
    return { ...result, content: text.trim() === "" ? "The tool failed." : text, is_error: true };
  return text.trim() === "" ? result : { ...result, content: text };
}

function toBlocks(item: ReplyItem): Fields[] {
  switch (item.type) {
    case "text": {
      const citations = fieldsOf(item.opaque)["citations"];
      return toText(item.text).map((block) =>
        Array.isArray(citations) ? { ...block, citations } : block,
      );
    }
    case "reasoning":
      return toThinking(item);
    case "tool_call":
      return [
        {
          type: "tool_use",
          id: item.id,
          name: fittingName(item.name, MOST_NAME_CHARS),
          input: toInput(item.arguments),
        },
      ];
    case "hosted": {
      const block = blockOf(item);
      return "type" in block ? [block] : [];
    }
  }
}

/**
 * The API refuses thinking without its signature, so it is dropped. Hidden thinking has a signature
 * and no text.
 */
function toThinking({ text, opaque }: ReplyItem & { type: "reasoning" }): Fields[] {
  const { type, signature, data } = fieldsOf(opaque);
  if (type === "redacted_thinking" && textOf(data) !== "") return [{ type, data }];
  return type === "thinking" && textOf(signature) !== ""
    ? [{ type, thinking: text, signature }]
    : [];
}

const MOST_NAME_CHARS = 128;

/**
 * The API requires an object and would refuse every later request of the conversation: invalid
 * arguments are sent back as {}.
 */
function toInput(text: string): unknown {
  const value = parseJson(text);
  return isJsonObject(value) ? value : {};
}

function merged(turns: readonly Turn[]): Turn[] {
  const result: Turn[] = [];
  for (const { role, blocks } of turns) {
    const last = result.at(-1);
    if (blocks.length === 0) continue;
    if (last?.role === role) last.blocks.push(...blocks);
    else result.push({ role, blocks: [...blocks] });
  }
  return result;
}

function resultsFirst(turns: readonly Turn[]): Turn[] {
  const isResult = (block: Fields) => block["type"] === "tool_result";
  return turns.map(({ role, blocks }) => ({
    role,
    blocks: [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))],
  }));
}

/**
 * Places the `cache_control` marks. A prompt is cached as a prefix (tools, then system, then
 * messages) up to a mark. A later request is looked up at its own marks, and up to 20 blocks before
 * each. Four marks are allowed: one after the part that all rounds share, one after the
 * attachments, two in the turns. Writing the cache costs a quarter more than plain input, reading
 * it a tenth.
 */

const MARK = { cache_control: { type: "ephemeral" } };

/** Tools and system are the same in every round of an agent, so a mark always pays off. */
export const marked = (block: Fields): Fields => ({ ...block, ...MARK });

/**
 * Marks the last user turn if the conversation continues, and always the user turn before it, where
 * the previous call wrote its cache. Without the second mark, a reply with many calls would move
 * that place out of the 20 blocks, and a call that writes no cache could not read one.
 */
export function markTurns(turns: readonly Turn[], continues: boolean): Turn[] {
  const places = turns.flatMap(({ role }, place) => (role === "user" ? [place] : []));
  const [before, last] = [places.at(-2), places.at(-1)];
  return turns.map((turn, place) =>
    place === before || (place === last && continues) ? markLast(turn) : turn,
  );
}

function markLast({ role, blocks }: Turn): Turn {
  return {
    role,
    blocks: blocks.map((block, place) => (place === blocks.length - 1 ? marked(block) : block)),
  };
}

/**
 * The attachments with a mark at their end. They precede a text that changes every round and may be
 * most of the prompt's cost. With their own mark they are read from the cache in every round.
 */
function markAttachments(blocks: readonly Fields[]): Fields[] {
  const last = blocks.at(-1);
  return last ? [...blocks.slice(0, -1), marked(last)] : [];
}
