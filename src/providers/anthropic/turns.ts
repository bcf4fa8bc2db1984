import { fittingName } from "../call-ids";
import { isJsonObject, parseJson } from "../json";
import { type Part, PDF_TYPE, unsayable } from "../parts";
import type { Message, ModelRequest, ReplyItem } from "../provider";
import { blockOf } from "./hosted-uses";
import { type Fields, fieldsOf, textOf } from "./schema";
import { settleServerBlocks, type Turn } from "./blocks";

/**
 * A conversation as the format wants it: user and assistant take turns, results of tools stand first in the message after their
 * calls, nothing is blank. What the assistant wrote goes back block by block as it came.
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
        blocks: [...markBrought((message.parts ?? []).flatMap(toPart)), ...toText(message.text)],
      };
    case "tool":
      return { role: "user", blocks: [toResult(message)] };
    case "assistant":
      return { role: "assistant", blocks: message.items.flatMap(toBlocks) };
  }
}

/** The API refuses texts that are empty or blank. */
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
      return unsayable(part);
  }
}

/** A result may be empty, but not one of a tool that failed. */
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

/** Thinking without its signature is refused, so what has none stays out; thinking that is hidden has a signature and no text. */
function toThinking({ text, opaque }: ReplyItem & { type: "reasoning" }): Fields[] {
  const { type, signature, data } = fieldsOf(opaque);
  if (type === "redacted_thinking" && textOf(data) !== "") return [{ type, data }];
  return type === "thinking" && textOf(signature) !== ""
    ? [{ type, thinking: text, signature }]
    : [];
}

const MOST_NAME_CHARS = 128;

/** The API wants an object and refuses the conversation for good without one: broken arguments go back empty. */
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
 * Where the provider's cache of a prompt ends. A prompt is cached as a whole from its beginning (tools, then system, then
 * messages) up to a mark; a later request is looked up at its own marks, and up to 20 blocks before each. Four marks are
 * allowed: one ends what every round has in common, one what the question brought, two lie in the turns. Writing costs a quarter
 * more than reading afresh, reading a tenth.
 */

const MARK = { cache_control: { type: "ephemeral" } };

/** Tools and system are the same for every round of an agent: always worth a mark. */
export const marked = (block: Fields): Fields => ({ ...block, ...MARK });

/**
 * Marks the user's last turn if the conversation goes on from here, and always the one before it: that is exactly where the call
 * before wrote its cache. Without it a reply with many calls would push that place out of the 20 blocks, and a call that
 * writes no cache of its own would read none.
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
 * What a question brought, its end marked: it stands before a text that changes from round to round, and may be most of what a
 * prompt costs. With a mark of its own it is read from the cache in every round.
 */
function markBrought(blocks: readonly Fields[]): Fields[] {
  const last = blocks.at(-1);
  return last ? [...blocks.slice(0, -1), marked(last)] : [];
}
