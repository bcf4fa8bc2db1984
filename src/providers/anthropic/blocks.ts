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
 * Content blocks of a reply. Defines the data that a block collects while it streams, and the reply
 * item that the block becomes.
 */

/** Text or JSON of the block, in the pieces in which it arrived. */
type Pieces = { pieces: string[] };

export type Block = Pieces &
  (
    | { kind: "text"; citations: unknown[] }
    | { kind: "thinking"; signature: string[] }
    | { kind: "redacted"; data: string }
    /**
     * `index`: number of earlier calls in the reply. `showsId`: whether the events of the call
     * contain its id. They do if the id is valid and no earlier call has the same id.
     */
    | { kind: "call"; index: number; id: string; showsId: boolean; name: string; input: unknown }
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

/** The block for a `content_block_start`. `earlierBlocks` are the earlier blocks of the reply. */
export function beginBlock(fields: Fields, earlierBlocks: readonly Block[]): Block {
  const noPieces = { pieces: [] };
  const tool = hostedToolOf(fields);
  if (tool && isServerUse(fields)) {
    const followsSameTool = earlierBlocks.some(
      (other) => other.kind === "use" && other.tool === tool,
    );
    return { ...noPieces, kind: "use", tool, fields, strings: createJsonStrings(followsSameTool) };
  }
  if (tool) return { ...noPieces, kind: "result", tool, fields };
  switch (fields["type"]) {
    case "text":
      return { ...noPieces, kind: "text", citations: [...listOf(fields["citations"])] };
    case "thinking":
      return { ...noPieces, kind: "thinking", signature: [textOf(fields["signature"])] };
    case "redacted_thinking":
      return { ...noPieces, kind: "redacted", data: textOf(fields["data"]) };
    case "tool_use": {
      const earlierCalls = earlierBlocks.filter((other) => other.kind === "call");
      const id = textOf(fields["id"]);
      const showsId = VALID_ID.test(id) && earlierCalls.every((other) => other.id !== id);
      return {
        ...noPieces,
        kind: "call",
        index: earlierCalls.length,
        id,
        showsId,
        name: textOf(fields["name"]),
        input: fields["input"],
      };
    }
    default:
      return { ...noPieces, kind: "unknown" };
  }
}

/**
 * The text that the start event of a block contains: text, thinking, or the complete input of a
 * hosted tool.
 */
export function initialPiece(fields: Fields): string {
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
        ...(block.showsId && { id: block.id }),
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

/**
 * The API refuses other ids when a call is sent back. A proxy may use other ids; such an id counts
 * as missing.
 */
const VALID_ID = /^[\w-]+$/;

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
          id: VALID_ID.test(block.id) ? block.id : "",
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

/** Arguments arrive in pieces, or complete in a reply that is not streamed. */
function argumentsOf(text: string, input: unknown): string {
  if (text.trim() !== "") return text;
  return isJsonObject(input) ? JSON.stringify(input) : "{}";
}

/** The input of a hosted tool; an empty object if the JSON is incomplete. */
function inputOf(block: Block & { kind: "use" }): Fields {
  return fieldsOf(parseJson(block.pieces.join("")));
}

/** The sources of a text block. `text` is the passage that cites them. */
export function citationsOf(block: Block): Citation[] {
  if (block.kind !== "text") return [];
  const text = block.pieces.join("");
  return block.citations.map(fieldsOf).flatMap((source) => {
    const url = textOf(source["url"]);
    return url === ""
      ? []
      : [{ url, title: textOf(source["title"]), ...(text !== "" && { text }) }];
  });
}

/**
 * Pairs uses of hosted tools with their results, as the API requires. A use next to calls of our
 * own tools has no result yet. The API runs the hosted tool once our calls have their results, if
 * the message with these results contains nothing else. So other texts of that message are merged
 * into the last result. A use is removed if there is no result to merge into, or if the tool is no
 * longer offered.
 */

export type Turn = { role: "user" | "assistant"; blocks: Fields[] };

/**
 * The turns in the form that the API accepts. Some may have no blocks left. The given turns must
 * alternate between user and assistant and begin with the tool results.
 */
export function pairServerBlocks(
  turns: readonly Turn[],
  offered: ReadonlySet<HostedToolName | undefined>,
): Turn[] {
  const idsWithResult = new Set(
    turns.flatMap(({ blocks }) => blocks.filter(isServerResult).map(resultId)),
  );
  const openUseIds = new Set<string>();
  return turns.map((turn, turnIndex) => {
    if (turn.role === "user")
      return openUseIds.size > 0 ? { ...turn, blocks: mergeTextsIntoResult(turn.blocks) } : turn;
    const nextTurn = turns[turnIndex + 1];
    const mayRunLater =
      !nextTurn || nextTurn.blocks.some((block) => block["type"] === "tool_result");
    const isContinued = turnIndex + 2 < turns.length;
    const kept = turn.blocks.filter((block) => {
      if (isServerUse(block))
        return (
          idsWithResult.has(useId(block)) ||
          (mayRunLater && !isContinued && offered.has(hostedToolOf(block)))
        );
      return (
        !isServerResult(block) || openUseIds.has(resultId(block)) || hasUse(turn, resultId(block))
      );
    });
    for (const block of kept) if (isServerUse(block)) openUseIds.add(useId(block));
    for (const block of kept) if (isServerResult(block)) openUseIds.delete(resultId(block));
    return { ...turn, blocks: kept };
  });
}

const useId = (block: Fields): string => textOf(block["id"]);
const resultId = (block: Fields): string => textOf(block["tool_use_id"]);
const hasUse = (turn: Turn, id: string): boolean =>
  turn.blocks.some((block) => isServerUse(block) && useId(block) === id);

/** Merges all text blocks into the last tool result, after the text of that result. */
function mergeTextsIntoResult(blocks: readonly Fields[]): Fields[] {
  const results = blocks.filter((block) => block["type"] === "tool_result");
  const texts = blocks.filter((block) => block["type"] === "text");
  const last = results.at(-1);
  if (!last || texts.length === 0) return [...blocks];
  const ownText = textOf(last["content"]);
  const content = [...(ownText === "" ? [] : [{ type: "text", text: ownText }]), ...texts];
  return [...results.slice(0, -1), { ...last, content }];
}
