import type { Citation, HostedToolName } from "../../protocol/hosted-tools";
import { isJsonObject, parseJson } from "../json";
import type { ModelEvent, ReplyItem } from "../provider";
import { createJsonStrings } from "./json-strings";
import {
  type Fields,
  fieldsOf,
  hostedToolOf,
  isServerResult,
  isServerUse,
  listOf,
  textOf,
} from "./schema";

/** The content blocks of a reply: what each collects while it streams, and what becomes of it. */

type Written = { pieces: string[] };

export type Block = Written &
  (
    | { kind: "text"; citations: unknown[] }
    | { kind: "thinking"; signature: string[] }
    | { kind: "redacted"; data: string }
    /** `shown`: whether its id is told with its arguments: it can stay, and no call before has it. */
    | { kind: "call"; index: number; id: string; shown: boolean; name: string; input: unknown }
    | {
        kind: "use";
        tool: HostedToolName;
        fields: Fields;
        strings: ReturnType<typeof createJsonStrings>;
      }
    | { kind: "result"; tool: HostedToolName; fields: Fields }
    /** Nothing that we asked for or could send back. */
    | { kind: "unknown" }
  );

/** A block as it begins, after the others of its reply. */
export function beginBlock(fields: Fields, others: readonly Block[]): Block {
  const written = { pieces: [] };
  const tool = hostedToolOf(fields);
  if (tool && isServerUse(fields)) {
    const again = others.some((other) => other.kind === "use" && other.tool === tool);
    return { ...written, kind: "use", tool, fields, strings: createJsonStrings(again) };
  }
  if (tool) return { ...written, kind: "result", tool, fields };
  switch (fields["type"]) {
    case "text":
      return { ...written, kind: "text", citations: [...listOf(fields["citations"])] };
    case "thinking":
      return { ...written, kind: "thinking", signature: [textOf(fields["signature"])] };
    case "redacted_thinking":
      return { ...written, kind: "redacted", data: textOf(fields["data"]) };
    case "tool_use": {
      const before = others.filter((other) => other.kind === "call");
      const id = textOf(fields["id"]);
      const shown = FITTING_ID.test(id) && before.every((other) => other.id !== id);
      return {
        ...written,
        kind: "call",
        index: before.length,
        id,
        shown,
        name: textOf(fields["name"]),
        input: fields["input"],
      };
    }
    default:
      return { ...written, kind: "unknown" };
  }
}

/** What a block says already as it begins: text, thinking, or a hosted tool's whole input. */
export function firstPiece(fields: Fields): string {
  if (fields["type"] === "text") return textOf(fields["text"]);
  if (fields["type"] === "thinking") return textOf(fields["thinking"]);
  const input = fieldsOf(fields["input"]);
  return Object.keys(input).length > 0 && hostedToolOf(fields) ? JSON.stringify(input) : "";
}

/** Adds a piece to the block; gives the event it makes, if there is something to show. */
export function addPiece(block: Block, piece: string): ModelEvent | null {
  if (piece === "") return null;
  block.pieces.push(piece);
  switch (block.kind) {
    case "text":
      return { type: "text", text: piece };
    case "thinking":
      return { type: "reasoning", text: piece };
    case "call":
      return {
        type: "tool_arguments",
        index: block.index,
        name: block.name,
        ...(block.shown && { id: block.id }),
        text: piece,
      };
    case "use": {
      const text = block.strings.push(piece);
      return text === "" ? null : { type: "hosted_tool", name: block.tool, text };
    }
    case "redacted":
    case "result":
    case "unknown":
      return null;
  }
}

/** The only ids the API takes back; a proxy may give others, and those count as missing. */
const FITTING_ID = /^[\w-]+$/;

/** The block as an item of the reply; none for a text without text, or for what we do not know. */
export function toItems(block: Block): ReplyItem[] {
  const text = block.pieces.join("");
  switch (block.kind) {
    case "text":
      if (text === "") return [];
      return [
        {
          type: "text",
          text,
          ...(block.citations.length > 0 && { opaque: { citations: block.citations } }),
        },
      ];
    case "thinking":
      return [
        {
          type: "reasoning",
          text,
          opaque: { type: "thinking", signature: block.signature.join("") },
        },
      ];
    case "redacted":
      return [
        { type: "reasoning", text: "", opaque: { type: "redacted_thinking", data: block.data } },
      ];
    case "call":
      return [
        {
          type: "tool_call",
          id: FITTING_ID.test(block.id) ? block.id : "",
          name: block.name,
          arguments: argumentsOf(text, block.input),
        },
      ];
    case "use":
      return [
        {
          type: "hosted",
          name: block.tool,
          opaque: { block: { ...block.fields, input: inputOf(block) } },
        },
      ];
    case "result":
      return [{ type: "hosted", name: block.tool, opaque: { block: block.fields } }];
    case "unknown":
      return [];
  }
}

/** Arguments come in pieces, or whole in a reply that is not streamed. */
function argumentsOf(text: string, input: unknown): string {
  if (text.trim() !== "") return text;
  return isJsonObject(input) ? JSON.stringify(input) : "{}";
}

/** What a hosted tool was asked; input that broke off is none. */
function inputOf(block: Block & { kind: "use" }): Fields {
  return fieldsOf(parseJson(block.pieces.join("")));
}

/** The sources of a text, with the text as the passage that rests on them. */
export function citationsOf(block: Block): Citation[] {
  if (block.kind !== "text") return [];
  const text = block.pieces.join("");
  return block.citations.map(fieldsOf).flatMap((one) => {
    const url = textOf(one["url"]);
    return url === "" ? [] : [{ url, title: textOf(one["title"]), ...(text !== "" && { text }) }];
  });
}

/**
 * Keeps uses of hosted tools and their results together, as the API demands. A use next to calls of our own tools has no result
 * yet: the API runs it once those calls have theirs, if nothing else is in the same message. So what else is to be said goes into
 * the last of the results; where there is none to take it, or the tool is not offered any more, the use is given up.
 */

export type Turn = { role: "user" | "assistant"; blocks: Fields[] };

/** The turns as the API takes them; some may be left without blocks. Expects user and assistant to take turns, results first. */
export function settleServerBlocks(
  turns: readonly Turn[],
  offered: ReadonlySet<HostedToolName | undefined>,
): Turn[] {
  const resolved = new Set(
    turns.flatMap(({ blocks }) => blocks.filter(isServerResult).map(resultId)),
  );
  const waiting = new Set<string>();
  return turns.map((turn, place) => {
    if (turn.role === "user")
      return waiting.size > 0 ? { ...turn, blocks: foldTexts(turn.blocks) } : turn;
    const answered = turns[place + 1];
    const mayWait = !answered || answered.blocks.some((block) => block["type"] === "tool_result");
    const goesOn = place + 2 < turns.length;
    const kept = turn.blocks.filter((block) => {
      if (isServerUse(block))
        return (
          resolved.has(useId(block)) || (mayWait && !goesOn && offered.has(hostedToolOf(block)))
        );
      return (
        !isServerResult(block) || waiting.has(resultId(block)) || hasUse(turn, resultId(block))
      );
    });
    for (const block of kept) if (isServerUse(block)) waiting.add(useId(block));
    for (const block of kept) if (isServerResult(block)) waiting.delete(resultId(block));
    return { ...turn, blocks: kept };
  });
}

const useId = (block: Fields): string => textOf(block["id"]);
const resultId = (block: Fields): string => textOf(block["tool_use_id"]);
const hasUse = (turn: Turn, id: string): boolean =>
  turn.blocks.some((block) => isServerUse(block) && useId(block) === id);

/** All texts in the last result, after its own. */
function foldTexts(blocks: readonly Fields[]): Fields[] {
  const results = blocks.filter((block) => block["type"] === "tool_result");
  const texts = blocks.filter((block) => block["type"] === "text");
  const last = results.at(-1);
  if (!last || texts.length === 0) return [...blocks];
  const own = textOf(last["content"]);
  const content = [...(own === "" ? [] : [{ type: "text", text: own }]), ...texts];
  return [...results.slice(0, -1), { ...last, content }];
}
