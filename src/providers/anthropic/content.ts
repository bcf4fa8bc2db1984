import type { ModelEvent } from "../provider";
import { CALL_CHARS, replySize } from "../reply-size";
import { addPiece, beginBlock, type Block, firstPiece } from "./blocks";
import { type Fields, fieldsOf, textOf } from "./schema";

/** The content of a reply as it streams: blocks by their index, of one message after the other. */
export type Content = {
  readonly blocks: readonly Block[];
  /** Begins a block; throws, as `change` does, for a reply without measure. Gives the events it makes. */
  begin(index: unknown, value: unknown): ModelEvent[];
  change(index: unknown, value: unknown): ModelEvent[];
  close(index: unknown): void;
  /** Takes blocks that come whole. */
  addWhole(values: readonly unknown[]): ModelEvent[];
  isWhole(): boolean;
  /** Indexes count from 0 again. */
  nextMessage(): void;
};

export function createContent(): Content {
  const blocks: Block[] = [];
  const open = new Map<unknown, Block>();
  const grow = replySize();

  const begin = (index: unknown, value: unknown): ModelEvent[] => {
    const fields = fieldsOf(value);
    const block = beginBlock(fields, blocks);
    const isText = block.kind === "text" || block.kind === "thinking";
    grow(CALL_CHARS + (isText ? 0 : JSON.stringify(fields).length));
    blocks.push(block);
    open.set(index, block);
    return add(block, firstPiece(fields));
  };
  const add = (block: Block, piece: string): ModelEvent[] => {
    grow(piece.length);
    const event = addPiece(block, piece);
    return event ? [event] : [];
  };

  return {
    blocks,
    begin,
    change(index, value) {
      const block = open.get(index);
      if (!block) return [];
      const delta = fieldsOf(value);
      if (keepsAside(block, delta)) grow(JSON.stringify(delta).length);
      return add(block, pieceOf(block, delta));
    },
    close(index) {
      open.delete(index);
    },
    addWhole(values) {
      const events = values.flatMap((value) => begin(WHOLE, value));
      open.delete(WHOLE);
      return events;
    },
    isWhole: () => open.size === 0,
    nextMessage: () => open.clear(),
  };
}

/** Where blocks stand that have no index. */
const WHOLE = Symbol("whole");

/** Signatures and sources: kept to be sent back, never shown as text. */
function keepsAside(block: Block, delta: Fields): boolean {
  if (block.kind === "thinking" && delta["type"] === "signature_delta")
    block.signature.push(textOf(delta["signature"]));
  else if (block.kind === "text" && delta["type"] === "citations_delta")
    block.citations.push(delta["citation"]);
  else return false;
  return true;
}

/** The text of a delta that fits the block; anything else is empty. */
function pieceOf(block: Block, delta: Fields): string {
  if (block.kind === "text" && delta["type"] === "text_delta") return textOf(delta["text"]);
  if (block.kind === "thinking" && delta["type"] === "thinking_delta")
    return textOf(delta["thinking"]);
  const isInput = block.kind === "call" || block.kind === "use";
  return isInput && delta["type"] === "input_json_delta" ? textOf(delta["partial_json"]) : "";
}
