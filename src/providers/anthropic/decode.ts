import type { StopReason, Usage } from "../../protocol/events";
import { uniqueCallIds } from "../call-ids";
import { hostedFields } from "../hosted";
import { type ModelEvent, ProviderError, type ReplyItem } from "../provider";
import { type Block, citationsOf, toItems } from "./blocks";
import { createContent } from "./content";
import { hostedUses, ranCode } from "./hosted-uses";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";
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
export const createDecoder = (before: Before): Decoder => new ReplyDecoder(before);

class ReplyDecoder implements Decoder {
  readonly #before: Before;
  readonly #content = createContent();
  #message = newMessage();
  /** Counts of the messages before this one. */
  #earlier = NO_COUNTS;
  #container = "";

  constructor(before: Before) {
    this.#before = before;
  }

  push(value: unknown): ModelEvent[] {
    const event = fieldsOf(this.#message.over ? null : value); // nothing after the end counts
    if (event["type"] === "message_start") return this.#start(fieldsOf(event["message"]));
    if (event["type"] === "content_block_start")
      return this.#content.begin(event["index"], event["content_block"]);
    if (event["type"] === "content_block_delta")
      return this.#content.change(event["index"], event["delta"]);
    if (event["type"] === "content_block_stop") this.#content.close(event["index"]);
    if (event["type"] === "message_stop") this.#message.over = this.isComplete();
    if (event["type"] !== "message_delta") return []; // pings, and what later versions add
    this.#report(event["usage"]);
    this.#finish(fieldsOf(event["delta"]));
    return [];
  }

  isComplete(): boolean {
    return this.#message.stopReason !== "" && this.#content.isWhole();
  }

  isOver(): boolean {
    return this.#message.over;
  }

  isPaused(): boolean {
    return this.isComplete() && this.#message.stopReason === PAUSED && !this.#hasCalls();
  }

  goOn(): void {
    this.#earlier = addCounts(this.#earlier, this.#message.counts);
    this.#message = newMessage();
    this.#content.nextMessage();
  }

  soFar(): { items: ReplyItem[]; usage: Usage | null } {
    return { items: this.#items(), usage: this.#usage() };
  }

  end(): ModelEvent {
    if (!this.isComplete()) throw cut("The stream ended before the reply was complete.");
    const items = this.#items();
    return {
      type: "stop",
      reason: toStopReason(this.#message.stopReason, this.#hasCalls()),
      items,
      usage: this.#usage(),
      ...hostedFields(
        hostedUses(items, this.#before.items),
        this.#content.blocks.flatMap(citationsOf),
      ),
    };
  }

  #start(fields: Fields): ModelEvent[] {
    if (this.#message.started) return []; // some proxies say it twice
    this.#message.started = true;
    const events = this.#content.addWhole(listOf(fields["content"]));
    this.#report(fields["usage"]);
    this.#finish(fields);
    return events;
  }

  #report(value: unknown): void {
    this.#message.counts = readCounts(this.#message.counts, value);
  }

  #finish(fields: Fields): void {
    this.#container = textOf(fieldsOf(fields["container"])["id"]) || this.#container;
    const reason = textOf(fields["stop_reason"]);
    if (reason !== "" && !this.#content.isWhole())
      throw cut("It said why it stopped in the middle of a block.");
    this.#message.stopReason = reason || this.#message.stopReason;
  }

  #items(): ReplyItem[] {
    const items = this.#content.blocks.flatMap(toItems);
    return withContainer(uniqueCallIds(items, this.#before.takenIds), this.#container);
  }

  /** Final with the reply's end: until then the provider counts a token or two of output, and later requests not at all. */
  #usage(): Usage | null {
    const counts = addCounts(this.#earlier, this.#message.counts);
    return toUsage(counts, ranCode(this.#content.blocks.flatMap(resultItems)));
  }

  #hasCalls(): boolean {
    return this.#content.blocks.some((block) => block.kind === "call");
  }
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

/** The provider stopped in the middle and wants the reply back to go on with it. */
const PAUSED = "pause_turn";

const REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "refusal"],
]);

/**
 * What a stop reason means. Calls count under whatever name for the end they come. A pause that is not gone on with is a cut:
 * `length` makes sure that nothing of it is taken for a whole, and that the model is asked again.
 */
function toStopReason(name: string, hasCalls: boolean): StopReason {
  if (name === PAUSED) return hasCalls ? "tool_calls" : "length";
  const reason = REASONS.get(name) ?? "unknown";
  if (reason === "stop" || reason === "tool_calls") return hasCalls ? "tool_calls" : "stop";
  return reason;
}
