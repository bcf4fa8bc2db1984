import type { Usage } from "../../protocol/events";
import { uniqueCallIds } from "../call-ids";
import { hostedFields } from "../hosted";
import { type ModelEvent, ProviderError, type ReplyItem } from "../provider";
import { type Block, citationsOf, toItems } from "./blocks";
import { createContent } from "./content";
import { hostedUses, ranCode } from "./hosted-uses";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";
import { PAUSED, toStopReason } from "./stop-reason";
import { addCounts, NO_COUNTS, readCounts, toUsage } from "./usage";

/** What the reply follows on: ids that are taken, and the items of the assistant so far. */
type Before = { takenIds: ReadonlySet<string>; items: readonly ReplyItem[] };

export type Decoder = {
  /**
   * Takes one parsed event of the stream; gives the events it makes. Throws for a reply without measure, and for a stop reason
   * in the middle of a block; not for what it does not know.
   */
  push(value: unknown): ModelEvent[];
  /** Whether a stop reason came and no block is open, so that what breaks afterwards costs nothing. */
  isComplete(): boolean;
  /** Whether the provider closed a complete message: nothing that comes later counts. */
  isOver(): boolean;
  /** Whether the provider paused and waits to be sent its reply back; never with calls, whose results it would miss. */
  isPaused(): boolean;
  /** Gets ready for the rest of a paused reply. */
  goOn(): void;
  /** What came and what was reported so far. */
  soFar(): { items: ReplyItem[]; usage: Usage | null };
  /** The reply's `stop`. Throws `stream_cut` if it is not complete. */
  end(): ModelEvent;
};

/** Of one message: a reply that paused has several. */
type Message = { started: boolean; over: boolean; stopReason: string; counts: typeof NO_COUNTS };

const newMessage = (): Message => ({
  started: false,
  over: false,
  stopReason: "",
  counts: NO_COUNTS,
});

/**
 * Puts a streamed reply together. Work per event depends on the event only: pieces are kept and joined once, at the end.
 *
 * Complete is a reply with a stop reason and no open block. The provider sends the reason when all blocks are done, and the
 * final usage with it; `message_stop` says only that nothing more will come.
 */
export function createDecoder(before: Before): Decoder {
  const content = createContent();
  let message = newMessage();
  let earlier = NO_COUNTS;
  let container = "";

  const items = () =>
    withContainer(uniqueCallIds(content.blocks.flatMap(toItems), before.takenIds), container);
  const usage = () =>
    toUsage(addCounts(earlier, message.counts), ranCode(content.blocks.flatMap(resultItems)));
  const hasCalls = () => content.blocks.some((block) => block.kind === "call");
  const isComplete = () => message.stopReason !== "" && content.isWhole();

  /** Told with the end only: until then the provider counts a token or two of output, whatever it wrote, and later requests not at all. */
  const report = (value: unknown): void => {
    message.counts = readCounts(message.counts, value);
  };
  const finish = (fields: Fields): void => {
    container = textOf(fieldsOf(fields["container"])["id"]) || container;
    const reason = textOf(fields["stop_reason"]);
    if (reason !== "" && !content.isWhole())
      throw cut("It said why it stopped in the middle of a block.");
    message.stopReason = reason || message.stopReason;
  };
  const start = (fields: Fields): ModelEvent[] => {
    if (message.started) return []; // some proxies say it twice
    message.started = true;
    const events = content.addWhole(listOf(fields["content"]));
    report(fields["usage"]);
    finish(fields);
    return events;
  };

  return {
    push(value) {
      const event = fieldsOf(message.over ? null : value); // nothing after the end counts
      if (event["type"] === "message_start") return start(fieldsOf(event["message"]));
      if (event["type"] === "content_block_start")
        return content.begin(event["index"], event["content_block"]);
      if (event["type"] === "content_block_delta")
        return content.change(event["index"], event["delta"]);
      if (event["type"] === "content_block_stop") content.close(event["index"]);
      if (event["type"] === "message_stop") message.over = isComplete();
      if (event["type"] !== "message_delta") return []; // pings, and what later versions add
      report(event["usage"]);
      finish(fieldsOf(event["delta"]));
      return [];
    },
    isComplete,
    isOver: () => message.over,
    isPaused: () => isComplete() && message.stopReason === PAUSED && !hasCalls(),
    goOn() {
      earlier = addCounts(earlier, message.counts);
      message = newMessage();
      content.nextMessage();
    },
    soFar: () => ({ items: items(), usage: usage() }),
    end() {
      if (!isComplete()) throw cut("The stream ended before the reply was complete.");
      const all = items();
      const hosted = hostedFields(
        hostedUses(all, before.items),
        content.blocks.flatMap(citationsOf),
      );
      return {
        type: "stop",
        reason: toStopReason(message.stopReason, hasCalls()),
        items: all,
        usage: usage(),
        ...hosted,
      };
    },
  };
}

const resultItems = (block: Block): ReplyItem[] => (block.kind === "result" ? toItems(block) : []);

/** The machine that ran the code goes back with the last block it has to do with, so that the next call finds its files. */
function withContainer(items: ReplyItem[], container: string): ReplyItem[] {
  const last = container === "" ? undefined : items.findLast((item) => item.type === "hosted");
  return items.map((item) =>
    item === last ? { ...item, opaque: { ...fieldsOf(item.opaque), container } } : item,
  );
}

const cut = (why: string) =>
  new ProviderError("transient", "stream_cut", `The provider broke off its reply. ${why}`);
