import type { Usage } from "../../protocol/events";
import { uniqueCallIds } from "../call-ids";
import { hostedFields } from "../hosted";
import { type ModelEvent, ProviderError, type ReplyItem } from "../provider";
import { CALL_CHARS, replySize } from "../reply-size";
import { addPiece, beginBlock, type Block, citationsOf, firstPiece, toItems } from "./blocks";
import { hostedUses, ranCode } from "./hosted-uses";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";
import { PAUSED, toStopReason } from "./stop-reason";
import { addCounts, NO_COUNTS, readCounts, toUsage } from "./usage";

/** What the reply follows on: ids that are taken, and the items of the assistant so far. */
type Before = { takenIds: ReadonlySet<string>; items: readonly ReplyItem[] };

export type Decoder = {
  /** Takes one parsed event of the stream; gives the events it makes. Throws for a reply without measure, and for an unfinished one that claims to be complete. */
  push(value: unknown): ModelEvent[];
  /** Whether a stop reason came, so that what breaks afterwards costs nothing. */
  isComplete(): boolean;
  /** Whether the provider paused and waits to be sent its reply back; never with calls, whose results it would miss. */
  isPaused(): boolean;
  /** Gets ready for the rest of a paused reply. */
  goOn(): void;
  /** What came and what was reported so far. */
  soFar(): { items: ReplyItem[]; usage: Usage | null };
  /** The reply's `stop`. Throws `stream_cut` if the provider never said why it stopped. */
  end(): ModelEvent;
};

/**
 * Puts a streamed reply together. Work per event depends on the event only: pieces are kept and joined once, at the end.
 *
 * Complete is a reply with a stop reason and no open block. The provider sends the reason when all blocks are done, and the
 * final usage with it; `message_stop` adds nothing.
 */
export function createDecoder(before: Before): Decoder {
  const blocks: Block[] = [];
  const grow = replySize();
  let open = new Map<unknown, Block>();
  let started = false;
  let stopReason = "";
  let container = "";
  let earlier = NO_COUNTS;
  let counts = NO_COUNTS;

  const items = () => withContainer(uniqueCallIds(blocks.flatMap(toItems), before.takenIds), container);
  const usage = () => toUsage(addCounts(earlier, counts), ranCode(blocks.flatMap(resultItems)));
  const hasCalls = () => blocks.some((block) => block.kind === "call");

  const begin = (index: unknown, value: unknown): ModelEvent[] => {
    const fields = fieldsOf(value);
    const block = beginBlock(fields, blocks);
    grow(block.kind === "text" || block.kind === "thinking" ? 0 : CALL_CHARS + JSON.stringify(fields).length);
    blocks.push(block);
    open.set(index, block);
    return add(block, firstPiece(fields));
  };
  const add = (block: Block, piece: string): ModelEvent[] => {
    grow(piece.length);
    const event = addPiece(block, piece);
    return event ? [event] : [];
  };
  const change = (block: Block | undefined, delta: Fields): ModelEvent[] => {
    if (!block || block.closed) return [];
    if (delta["type"] === "signature_delta" && block.kind === "thinking") block.signature.push(textOf(delta["signature"]));
    if (delta["type"] === "citations_delta" && block.kind === "text") block.citations.push(delta["citation"]);
    if (delta["type"] === "signature_delta" || delta["type"] === "citations_delta") grow(JSON.stringify(delta).length);
    return add(block, pieceOf(block, delta));
  };
  const report = (value: unknown): ModelEvent[] => {
    if (Object.keys(fieldsOf(value)).length === 0) return [];
    counts = readCounts(counts, value);
    const known = usage();
    return known ? [{ type: "usage", usage: known }] : [];
  };
  const finish = (fields: Fields): void => {
    container = textOf(fieldsOf(fields["container"])["id"]) || container;
    const said = textOf(fields["stop_reason"]);
    if (said !== "" && blocks.some((block) => !block.closed)) throw cut("It said why it stopped in the middle of a block.");
    stopReason = said || stopReason;
  };
  const start = (message: Fields): ModelEvent[] => {
    if (started) return []; // some proxies say it twice
    started = true;
    const events = listOf(message["content"]).flatMap((one, index) => begin(`whole ${index}`, one));
    for (const block of blocks) block.closed = true;
    const reported = report(message["usage"]);
    finish(message);
    return [...events, ...reported];
  };

  return {
    push(value) {
      const event = fieldsOf(value);
      switch (event["type"]) {
        case "message_start":
          return start(fieldsOf(event["message"]));
        case "content_block_start":
          return begin(event["index"], event["content_block"]);
        case "content_block_delta":
          return change(open.get(event["index"]), fieldsOf(event["delta"]));
        case "content_block_stop": {
          const block = open.get(event["index"]);
          if (block) block.closed = true;
          return [];
        }
        case "message_delta": {
          const reported = report(event["usage"]);
          finish(fieldsOf(event["delta"]));
          return reported;
        }
        default:
          return []; // pings, and what later versions add
      }
    },
    isComplete: () => stopReason !== "",
    isPaused: () => stopReason === PAUSED && !hasCalls(),
    goOn() {
      earlier = addCounts(earlier, counts);
      counts = NO_COUNTS;
      open = new Map();
      started = false;
      stopReason = "";
    },
    soFar: () => ({ items: items(), usage: usage() }),
    end() {
      if (stopReason === "") throw cut("The stream ended before the provider said why it stopped.");
      const all = items();
      const hosted = hostedFields(hostedUses(all, before.items), blocks.flatMap(citationsOf));
      return { type: "stop", reason: toStopReason(stopReason, hasCalls()), items: all, usage: usage(), ...hosted };
    },
  };
}

/** The text of a delta that fits the block; anything else is empty. */
function pieceOf(block: Block, delta: Fields): string {
  if (block.kind === "text" && delta["type"] === "text_delta") return textOf(delta["text"]);
  if (block.kind === "thinking" && delta["type"] === "thinking_delta") return textOf(delta["thinking"]);
  const isInput = block.kind === "call" || block.kind === "use";
  return isInput && delta["type"] === "input_json_delta" ? textOf(delta["partial_json"]) : "";
}

const resultItems = (block: Block): ReplyItem[] => (block.kind === "result" ? toItems(block) : []);

/** The machine that ran the code goes back with the last block it has to do with, so that the next call finds its files. */
function withContainer(items: ReplyItem[], container: string): ReplyItem[] {
  const last = container === "" ? undefined : items.findLast((item) => item.type === "hosted");
  return items.map((item) => (item === last ? { ...item, opaque: { ...fieldsOf(item.opaque), container } } : item));
}

const cut = (why: string) => new ProviderError("transient", "stream_cut", `The provider broke off its reply. ${why}`);
