import type { StopReason, Usage } from "../../protocol/events";
import { uniqueCallIds } from "../call-ids";
import { hostedFields } from "../hosted";
import { type ModelEvent, ProviderError, type ReplyItem } from "../provider";
import { type Block, citationsOf, toItems } from "./blocks";
import { createContent } from "./content";
import { hostedUses, hasRunCode } from "./hosted-uses";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";
import { addCounts, NO_COUNTS, readCounts, toUsage } from "./usage";

/** Facts about the conversation before the reply. */
type EarlierConversation = {
  /** Ids of earlier tool calls. */
  takenIds: ReadonlySet<string>;
  /** Items of all earlier assistant messages. */
  items: readonly ReplyItem[];
};

export type Decoder = {
  /**
   * Decodes one parsed event. Throws if the reply exceeds the size limit, or if a stop reason
   * arrives while a block is open. Unknown events are ignored.
   */
  push(value: unknown): ModelEvent[];
  /**
   * Whether a stop reason has arrived and no block is open. A failure after this point does not
   * harm the reply.
   */
  isComplete(): boolean;
  /** Whether the provider has ended the message after its stop reason. Later events are ignored. */
  isOver(): boolean;
  /**
   * Whether the provider paused and expects its partial reply in a next request. Always false for a
   * reply with tool calls, because their results would be missing in that request.
   */
  isPaused(): boolean;
  /** Prepares for the continuation of a paused reply. */
  continueReply(): void;
  /** Items and usage received so far. */
  soFar(): { items: ReplyItem[]; usage: Usage | null };
  /** The reply's `stop`. Throws `stream_cut` if the reply is not complete. */
  end(): ModelEvent;
};

/** State of one message. A reply that was paused has several messages. */
type Message = {
  isStarted: boolean;
  isOver: boolean;
  stopReason: string;
  counts: typeof NO_COUNTS;
};

const newMessage = (): Message => ({
  isStarted: false,
  isOver: false,
  stopReason: "",
  counts: NO_COUNTS,
});

/**
 * Assembles a streamed reply. The work per event does not grow with the reply: pieces are collected
 * and joined once at the end. A reply is complete when it has a stop reason and no open block. The
 * provider sends the stop reason after all blocks, together with the final usage. After
 * `message_stop`, nothing more follows.
 */
export const createDecoder = (conversation: EarlierConversation): Decoder =>
  new ReplyDecoder(conversation);

class ReplyDecoder implements Decoder {
  readonly #conversation: EarlierConversation;
  readonly #content = createContent();
  #message = newMessage();
  /** Token counts of the previous messages of this reply. */
  #earlier = NO_COUNTS;
  /** Id of the container that runs the code; "" if none was reported. */
  #container = "";

  constructor(conversation: EarlierConversation) {
    this.#conversation = conversation;
  }

  push(value: unknown): ModelEvent[] {
    const event = fieldsOf(this.#message.isOver ? null : value); // events after the end are ignored
    if (event["type"] === "message_start") return this.#start(fieldsOf(event["message"]));
    if (event["type"] === "content_block_start")
      return this.#content.begin(event["index"], event["content_block"]);
    if (event["type"] === "content_block_delta")
      return this.#content.change(event["index"], event["delta"]);
    if (event["type"] === "content_block_stop") this.#content.close(event["index"]);
    if (event["type"] === "message_stop") this.#message.isOver = this.isComplete();
    if (event["type"] !== "message_delta") return []; // pings, and events of later versions
    this.#report(event["usage"]);
    this.#finish(fieldsOf(event["delta"]));
    return [];
  }

  isComplete(): boolean {
    return this.#message.stopReason !== "" && this.#content.hasNoOpenBlock();
  }

  isOver(): boolean {
    return this.#message.isOver;
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
    if (!this.isComplete()) throw cutError("The stream ended before the reply was complete.");
    const items = this.#items();
    return {
      type: "stop",
      reason: toStopReason(this.#message.stopReason, this.#hasCalls()),
      items,
      usage: this.#usage(),
      ...hostedFields(
        hostedUses(items, this.#conversation.items),
        this.#content.blocks.flatMap(citationsOf),
      ),
    };
  }

  #start(fields: Fields): ModelEvent[] {
    if (this.#message.isStarted) return []; // some proxies send it twice
    this.#message.isStarted = true;
    const events = this.#content.addComplete(listOf(fields["content"]));
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
    if (reason !== "" && !this.#content.hasNoOpenBlock())
      throw cutError("The stop reason arrived in the middle of a block.");
    this.#message.stopReason = reason || this.#message.stopReason;
  }

  #items(): ReplyItem[] {
    const items = this.#content.blocks.flatMap(toItems);
    return withContainer(uniqueCallIds(items, this.#conversation.takenIds), this.#container);
  }

  /**
   * The usage so far. Before the end of the reply it is too low: it may count only the first tokens
   * of the output and misses later requests.
   */
  #usage(): Usage | null {
    const counts = addCounts(this.#earlier, this.#message.counts);
    return toUsage(counts, hasRunCode(this.#content.blocks.flatMap(resultItems)));
  }

  #hasCalls(): boolean {
    return this.#content.blocks.some((block) => block.kind === "call");
  }
}

const resultItems = (block: Block): ReplyItem[] => (block.kind === "result" ? toItems(block) : []);

/**
 * Adds the id of the code execution container to the last hosted item. The next call sends this id,
 * so that code finds the files of the container.
 */
function withContainer(items: ReplyItem[], container: string): ReplyItem[] {
  const last = container === "" ? undefined : items.findLast((item) => item.type === "hosted");
  return items.map((item) =>
    item === last ? { ...item, opaque: { ...fieldsOf(item.opaque), container } } : item,
  );
}

const cutError = (why: string) =>
  new ProviderError("transient", "stream_cut", `The provider broke off its reply. ${why}`);

/**
 * Stop reason of a reply that the provider paused. It expects the partial reply in a next request
 * and continues it.
 */
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
 * Maps a stop reason. A reply with tool calls may have any reason of a normal end. A pause that is
 * not continued makes the reply incomplete: with `length`, no part of it counts as complete, and
 * the model is called again.
 */
function toStopReason(name: string, hasCalls: boolean): StopReason {
  if (name === PAUSED) return hasCalls ? "tool_calls" : "length";
  const reason = REASONS.get(name) ?? "unknown";
  if (reason === "stop" || reason === "tool_calls") return hasCalls ? "tool_calls" : "stop";
  return reason;
}
