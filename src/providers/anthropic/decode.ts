import type { StopReason, Usage } from "../../protocol/events";
import { uniqueCallIds } from "../call-ids";
import { hostedFields } from "../hosted";
import { type ModelEvent, ProviderError, type ReplyItem } from "../provider";
import { type Block, citationsOf, toItems } from "./blocks";
import { createContent } from "./content";
import { hostedUses, ranCode } from "./hosted-uses";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";
import { addCounts, NO_COUNTS, readCounts, toUsage } from "./usage";

/** The conversation before the reply: ids already used, and the assistant's items. */
type Before = { takenIds: ReadonlySet<string>; items: readonly ReplyItem[] };

export type Decoder = {
  /**
   * Decodes one parsed event. Throws if the reply exceeds the size limit, or for a stop reason
   * inside a block. Unknown events are ignored.
   */
  push(value: unknown): ModelEvent[];
  /** Whether a stop reason has arrived and no block is open. Later failures then do not matter. */
  isComplete(): boolean;
  /** Whether the provider closed a complete message. Later events are ignored. */
  isOver(): boolean;
  /**
   * Whether the provider paused and expects its reply back. Never with tool calls, because their
   * results would be missing.
   */
  isPaused(): boolean;
  /** Prepares for the continuation of a paused reply. */
  continueReply(): void;
  /** Items and usage received so far. */
  soFar(): { items: ReplyItem[]; usage: Usage | null };
  /** The reply's `stop`. Throws `stream_cut` if the reply is not complete. */
  end(): ModelEvent;
};

/** One message. A reply that was paused has several. */
type Message = { started: boolean; over: boolean; stopReason: string; counts: typeof NO_COUNTS };

const newMessage = (): Message => ({
  started: false,
  over: false,
  stopReason: "",
  counts: NO_COUNTS,
});

/**
 * Assembles a streamed reply. Work per event does not grow with the reply: pieces are collected and
 * joined once at the end. A reply is complete with a stop reason and no open block. The provider
 * sends the reason after all blocks, with the final usage; `message_stop` says only that nothing
 * more will follow.
 */
export const createDecoder = (before: Before): Decoder => new ReplyDecoder(before);

class ReplyDecoder implements Decoder {
  readonly #before: Before;
  readonly #content = createContent();
  #message = newMessage();
  /** Counts of the previous messages. */
  #earlier = NO_COUNTS;
  #container = "";

  constructor(before: Before) {
    this.#before = before;
  }

  push(value: unknown): ModelEvent[] {
    const event = fieldsOf(this.#message.over ? null : value); // events after the end are ignored
    if (event["type"] === "message_start") return this.#start(fieldsOf(event["message"]));
    if (event["type"] === "content_block_start")
      return this.#content.begin(event["index"], event["content_block"]);
    if (event["type"] === "content_block_delta")
      return this.#content.change(event["index"], event["delta"]);
    if (event["type"] === "content_block_stop") this.#content.close(event["index"]);
    if (event["type"] === "message_stop") this.#message.over = this.isComplete();
    if (event["type"] !== "message_delta") return []; // pings, and events of later versions
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

  continueReply(): void {
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
    if (this.#message.started) return []; // some proxies send it twice
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
      throw cut("The stop reason arrived in the middle of a block.");
    this.#message.stopReason = reason || this.#message.stopReason;
  }

  #items(): ReplyItem[] {
    const items = this.#content.blocks.flatMap(toItems);
    return withContainer(uniqueCallIds(items, this.#before.takenIds), this.#container);
  }

  /**
   * Final only at the end of the reply: earlier counts include a token or two of output, and no
   * later requests.
   */
  #usage(): Usage | null {
    const counts = addCounts(this.#earlier, this.#message.counts);
    return toUsage(counts, ranCode(this.#content.blocks.flatMap(resultItems)));
  }

  #hasCalls(): boolean {
    return this.#content.blocks.some((block) => block.kind === "call");
  }
}

const resultItems = (block: Block): ReplyItem[] => (block.kind === "result" ? toItems(block) : []);

/**
 * Adds the id of the code execution container to the last hosted block, so that the next call finds
 * its files.
 */
function withContainer(items: ReplyItem[], container: string): ReplyItem[] {
  const last = container === "" ? undefined : items.findLast((item) => item.type === "hosted");
  return items.map((item) =>
    item === last ? { ...item, opaque: { ...fieldsOf(item.opaque), container } } : item,
  );
}

const cut = (why: string) =>
  new ProviderError("transient", "stream_cut", `The provider broke off its reply. ${why}`);

/** The provider paused and expects the reply back to continue it. */
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
 * Maps a stop reason. Tool calls count with every name of a normal end. A pause that is not
 * continued is a cut: `length` ensures that no part of it counts as complete and that the model is
 * called again.
 */
function toStopReason(name: string, hasCalls: boolean): StopReason {
  if (name === PAUSED) return hasCalls ? "tool_calls" : "length";
  const reason = REASONS.get(name) ?? "unknown";
  if (reason === "stop" || reason === "tool_calls") return hasCalls ? "tool_calls" : "stop";
  return reason;
}
