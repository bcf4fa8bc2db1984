import type { ModelEvent } from "../provider";
import { CALL_CHARS, replySize } from "../reply-size";
import { addPiece, beginBlock, type Block, initialPiece } from "./blocks";
import { type Fields, fieldsOf, textOf } from "./schema";

/**
 * The blocks of a streamed reply. A reply can consist of several messages, and the block indexes
 * restart at 0 with each message.
 */
export type Content = {
  readonly blocks: readonly Block[];
  /**
   * Starts a block and returns its events. Like `change`, throws if the reply exceeds the size
   * limit.
   */
  begin(index: unknown, value: unknown): ModelEvent[];
  /** Applies a delta to the open block with this index. Ignored if there is no such block. */
  change(index: unknown, value: unknown): ModelEvent[];
  close(index: unknown): void;
  /** Adds blocks that arrived complete. */
  addComplete(values: readonly unknown[]): ModelEvent[];
  hasNoOpenBlock(): boolean;
  /** Prepares for the next message, whose indexes restart at 0. */
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
    return add(block, initialPiece(fields));
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
      if (storeHidden(block, delta)) grow(JSON.stringify(delta).length);
      return add(block, pieceOf(block, delta));
    },
    close(index) {
      open.delete(index);
    },
    addComplete(values) {
      const events = values.flatMap((value) => begin(NO_INDEX, value));
      open.delete(NO_INDEX);
      return events;
    },
    hasNoOpenBlock: () => open.size === 0,
    nextMessage: () => open.clear(),
  };
}

/** Stands in for the index of blocks that arrived complete, because they have none. */
const NO_INDEX = Symbol("no index");

/**
 * Stores a signature or citation. Both are sent back later but not shown as text. Returns whether
 * the delta was one of them.
 */
function storeHidden(block: Block, delta: Fields): boolean {
  if (block.kind === "thinking" && delta["type"] === "signature_delta")
    block.signature.push(textOf(delta["signature"]));
  else if (block.kind === "text" && delta["type"] === "citations_delta")
    block.citations.push(delta["citation"]);
  else return false;
  return true;
}

/** The text of a delta; "" if the type of the delta does not match the block. */
function pieceOf(block: Block, delta: Fields): string {
  if (block.kind === "text" && delta["type"] === "text_delta") return textOf(delta["text"]);
  if (block.kind === "thinking" && delta["type"] === "thinking_delta")
    return textOf(delta["thinking"]);
  const isInput = block.kind === "call" || block.kind === "use";
  return isInput && delta["type"] === "input_json_delta" ? textOf(delta["partial_json"]) : "";
}
