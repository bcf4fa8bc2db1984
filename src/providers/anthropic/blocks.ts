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

/**
 * Content blocks of a reply: the data each collects while it streams, and the reply item it
 * becomes.
 */

type Pieces = { pieces: string[] };

export type Block = Pieces &
  (
    | { kind: "text"; citations: unknown[] }
    | { kind: "thinking"; signature: string[] }
    | { kind: "redacted"; data: string }
    /**
     * `shown`: whether its id is sent with its arguments, because the id is valid and no earlier
     * call has it.
     */
    | { kind: "call"; index: number; id: string; shown: boolean; name: string; input: unknown }
    | {
        kind: "use";
        tool: HostedToolName;
        fields: Fields;
        strings: ReturnType<typeof createJsonStrings>;
      }
    | { kind: "result"; tool: HostedToolName; fields: Fields }
    /** A block of a type that we neither request nor can send back. */
    | { kind: "unknown" }
  );

/** The block for a `content_block_start`. `others` are the earlier blocks of the reply. */
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

/** The text that a block starts with: text, thinking, or the whole input of a hosted tool. */
export function firstPiece(fields: Fields): string {
  if (fields["type"] === "text") return textOf(fields["text"]);
  if (fields["type"] === "thinking") return textOf(fields["thinking"]);
  const input = fieldsOf(fields["input"]);
  return Object.keys(input).length > 0 && hostedToolOf(fields) ? JSON.stringify(input) : "";
}

/** Appends a piece to the block. Returns the event to show, or `null`. */
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

/** The API accepts only these ids back. A proxy may use others; those count as missing. */
const FITTING_ID = /^[\w-]+$/;

/** The block as reply items. Empty for a block without text and for unknown blocks. */
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

/** Arguments arrive in pieces, or as a whole in a reply that is not streamed. */
function argumentsOf(text: string, input: unknown): string {
  if (text.trim() !== "") return text;
  return isJsonObject(input) ? JSON.stringify(input) : "{}";
}

/** The input of a hosted tool; empty if the JSON is incomplete. */
function inputOf(block: Block & { kind: "use" }): Fields {
  return fieldsOf(parseJson(block.pieces.join("")));
}

/** The sources of a text block. `text` is the passage that cites them. */
export function citationsOf(block: Block): Citation[] {
  if (block.kind !== "text") return [];
  const text = block.pieces.join("");
  return block.citations.map(fieldsOf).flatMap((one) => {
    const url = textOf(one["url"]);
    return url === "" ? [] : [{ url, title: textOf(one["title"]), ...(text !== "" && { text }) }];
  });
}

/**
 * Pairs uses of hosted tools with their results, as the API requires. A use next to calls of our
 * own tools has no result yet. The API runs it once those calls have their results, if the same
 * message contains nothing else. So other texts are merged into the last result. Without a result
 * to merge into, or if the tool is no longer offered, the use is removed.
 */

export type Turn = { role: "user" | "assistant"; blocks: Fields[] };

/**
 * The turns in valid form; some may have no blocks left. Requires alternating user and assistant
 * turns with results first.
 */
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
    const isContinued = place + 2 < turns.length;
    const kept = turn.blocks.filter((block) => {
      if (isServerUse(block))
        return (
          resolved.has(useId(block)) ||
          (mayWait && !isContinued && offered.has(hostedToolOf(block)))
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

/** Merges all texts into the last result, after its own text. */
function foldTexts(blocks: readonly Fields[]): Fields[] {
  const results = blocks.filter((block) => block["type"] === "tool_result");
  const texts = blocks.filter((block) => block["type"] === "text");
  const last = results.at(-1);
  if (!last || texts.length === 0) return [...blocks];
  const own = textOf(last["content"]);
  const content = [...(own === "" ? [] : [{ type: "text", text: own }]), ...texts];
  return [...results.slice(0, -1), { ...last, content }];
}
