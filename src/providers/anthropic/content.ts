import type { ModelEvent } from "../provider";
import { CALL_CHARS, replySize } from "../reply-size";
import { addPiece, beginBlock, type Block, firstPiece } from "./blocks";
import { type Fields, fieldsOf, textOf } from "./schema";

/** The blocks of a streamed reply. Indexes restart with each message. */
export type Content = {
  readonly blocks: readonly Block[];
  /**
   * Starts a block and returns its events. Throws, as `change` does, if the reply exceeds the size
   * limit.
   */
  begin(index: unknown, value: unknown): ModelEvent[];
  change(index: unknown, value: unknown): ModelEvent[];
  close(index: unknown): void;
  /** Adds complete blocks. */
  addWhole(values: readonly unknown[]): ModelEvent[];
  isWhole(): boolean;
  /** Restarts the indexes at 0. */
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
      if (storesAside(block, delta)) grow(JSON.stringify(delta).length);
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

/** Index of blocks that have none. */
const WHOLE = Symbol("whole");

/** Stores signatures and citations, which are sent back but not shown as text. */
function storesAside(block: Block, delta: Fields): boolean {
  if (block.kind === "thinking" && delta["type"] === "signature_delta")
    block.signature.push(textOf(delta["signature"]));
  else if (block.kind === "text" && delta["type"] === "citations_delta")
    block.citations.push(delta["citation"]);
  else return false;
  return true;
}

/** The text of a delta that matches the type of the block; "" for any other. */
function pieceOf(block: Block, delta: Fields): string {
  if (block.kind === "text" && delta["type"] === "text_delta") return textOf(delta["text"]);
  if (block.kind === "thinking" && delta["type"] === "thinking_delta")
    return textOf(delta["thinking"]);
  const isInput = block.kind === "call" || block.kind === "use";
  return isInput && delta["type"] === "input_json_delta" ? textOf(delta["partial_json"]) : "";
}
