import { fittingName } from "../call-ids";
import { isJsonObject, parseJson } from "../json";
import { type Part, PDF_TYPE, rejectPart } from "../attachment-parts";
import type { Message, ModelRequest, ReplyItem } from "../provider";
import { blockOf } from "./hosted-uses";
import { type Fields, fieldsOf, textOf } from "./schema";
import { pairServerBlocks, type Turn } from "./blocks";

/**
 * The conversation in the form that the API requires: user and assistant turns alternate, tool
 * results come first in the message after their calls, and no text is blank. Blocks of the
 * assistant are sent back unchanged.
 */
export function toTurns({
  messages,
  hostedTools,
}: Pick<ModelRequest, "messages" | "hostedTools">): Turn[] {
  const turns = moveResultsFirst(mergeTurns(messages.map(toTurn)));
  const offered = new Set(hostedTools.map(({ name }) => name));
  return moveResultsFirst(mergeTurns(pairServerBlocks(turns, offered)));
}

function toTurn(message: Message): Turn {
  switch (message.role) {
    case "user":
      return {
        role: "user",
        blocks: [
          ...markEnd((message.history ?? []).flatMap(toText)),
          ...markEnd((message.parts ?? []).flatMap(toPart)),
          ...toText(message.text),
        ],
      };
    case "tool":
      return { role: "user", blocks: [toToolResult(message)] };
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

/** The API accepts an empty result, except for a failed tool. */
function toToolResult({ toolCallId, text, isError }: Extract<Message, { role: "tool" }>): Fields {
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
          name: fittingName(item.name, MAX_NAME_CHARS),
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
 * Thinking without a signature is dropped, because the API refuses it. Hidden thinking has a
 * signature and no text.
 */
function toThinking({ text, opaque }: ReplyItem & { type: "reasoning" }): Fields[] {
  const { type, signature, data } = fieldsOf(opaque);
  if (type === "redacted_thinking" && textOf(data) !== "") return [{ type, data }];
  return type === "thinking" && textOf(signature) !== ""
    ? [{ type, thinking: text, signature }]
    : [];
}

const MAX_NAME_CHARS = 128;

/**
 * The input of a call. Arguments that are not a JSON object are replaced by {}: the API would
 * refuse them, and so every later request of the conversation.
 */
function toInput(text: string): unknown {
  const value = parseJson(text);
  return isJsonObject(value) ? value : {};
}

function mergeTurns(turns: readonly Turn[]): Turn[] {
  const result: Turn[] = [];
  for (const { role, blocks } of turns) {
    const last = result.at(-1);
    if (blocks.length === 0) continue;
    if (last?.role === role) last.blocks.push(...blocks);
    else result.push({ role, blocks: [...blocks] });
  }
  return result;
}

function moveResultsFirst(turns: readonly Turn[]): Turn[] {
  const isResult = (block: Fields) => block["type"] === "tool_result";
  return turns.map(({ role, blocks }) => ({
    role,
    blocks: [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))],
  }));
}

/**
 * Places the `cache_control` marks. The API caches the part of a prompt from its beginning up to a
 * mark; the order is tools, system, messages. For a later request, the API searches the cache at
 * the marks of that request and up to 20 blocks before each mark. Writing to the cache costs a
 * quarter more than uncached input; reading from it costs a tenth.
 *
 * The API allows four marks. We set one after the history, one after the attachments, two in the
 * turns, and, if one is left, one after the part that all rounds share. With a history, the mark
 * after it also finds that part, because it is the block before the history.
 */

const MOST_MARKS = 4;
const MARK = { cache_control: { type: "ephemeral" } };

/**
 * The block with a cache mark. Tools and system are the same in every round of an agent, so their
 * mark always reduces the cost.
 */
export const withMark = (block: Fields): Fields => ({ ...block, ...MARK });

/**
 * Marks the previous user turn, where the previous call wrote its cache, and also the last user
 * turn if the conversation continues. The mark on the previous turn is necessary: a reply with many
 * calls has more than 20 blocks, so a search from the last turn would miss that cache. A call that
 * writes no cache has no other mark in the turns.
 */
export function markTurns(turns: readonly Turn[], continues: boolean): Turn[] {
  const userIndexes = turns.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  const [previous, last] = [userIndexes.at(-2), userIndexes.at(-1)];
  return turns.map((turn, index) =>
    index === previous || (index === last && continues) ? markLast(turn) : turn,
  );
}

function markLast({ role, blocks }: Turn): Turn {
  return {
    role,
    blocks: blocks.map((block, index) => (index === blocks.length - 1 ? withMark(block) : block)),
  };
}

/** Whether another mark is allowed. */
export const hasMarkLeft = (turns: readonly Turn[]): boolean =>
  turns.flatMap(({ blocks }) => blocks).filter((block) => "cache_control" in block).length <
  MOST_MARKS;

/**
 * The blocks with a mark after the last one. The history is the same in all rounds, and most of it
 * in the next turn; the attachments are the same in all rounds. The text after them changes every
 * round, and they may be most of the cost of the prompt.
 */
function markEnd(blocks: readonly Fields[]): Fields[] {
  const last = blocks.at(-1);
  return last ? [...blocks.slice(0, -1), withMark(last)] : [];
}
