import type { Usage } from "../../protocol/events";
import type { ModelEvent, ReplyItem } from "../provider";
import { createReasoningDetails } from "./reasoning-details";
import {
  type Chunk,
  type Fields,
  fieldsOf,
  readCalls,
  readChunk,
  readReasoning,
  readText,
  textOf,
} from "./schema";
import { replySize, reportedCount } from "../reply-size";
import { toStopReason } from "./stop-reason";
import { createToolCalls } from "./tool-calls";

export type Decoder = {
  /**
   * Decodes one parsed chunk into events. Throws only if the reply exceeds the size limit. Unknown
   * fields are ignored.
   */
  push(value: unknown): ModelEvent[];
  /** The reply's `stop`. Throws `stream_cut` if the end of the reply was not received. */
  end(): ModelEvent;
  /** Whether a finish reason has arrived. After that, a failure can lose only the usage. */
  isComplete(): boolean;
};

/**
 * Assembles a streamed reply. The work per chunk does not grow with the reply: pieces are collected
 * and joined once at the end. A reply is complete when it has a finish reason. `[DONE]` alone does
 * not show that it is complete, because proxies send it even after the connection to the provider
 * was lost.
 */
export function createDecoder(takenIds: ReadonlySet<string>): Decoder {
  const text: string[] = [];
  const reasoning: string[] = [];
  const grow = replySize();
  const calls = createToolCalls(takenIds, grow);
  const details = createReasoningDetails(grow);
  let usage: Usage | null = null;
  let finishReason = "";
  let isRefused = false;

  const storePiece = (pieces: string[], event: ModelEvent & { text: string }): ModelEvent => {
    grow(event.text.length);
    pieces.push(event.text);
    return event;
  };

  function* choiceEvents({
    delta,
    finishReason: reason,
  }: NonNullable<Chunk["choice"]>): Generator<ModelEvent> {
    details.push(delta);
    const reasoningText = readReasoning(delta);
    if (reasoningText !== "")
      yield storePiece(reasoning, { type: "reasoning", text: reasoningText });
    const answerText = readText(delta);
    if (answerText !== "") yield storePiece(text, { type: "text", text: answerText });
    for (const piece of readCalls(delta)) {
      const event = calls.push(piece);
      if (event) yield event;
    }
    isRefused ||= textOf(delta["refusal"]) !== "";
    finishReason = reason || finishReason;
  }

  return {
    push(value) {
      const chunk = readChunk(value);
      const events = chunk.choice ? [...choiceEvents(chunk.choice)] : [];
      const reported = decodeUsage(chunk.usage ?? chunk.choice?.usage);
      if (reported) {
        usage = reported;
        events.push({ type: "usage", usage });
      }
      return events;
    },
    end() {
      const toolItems = calls.items();
      const reason = toStopReason(finishReason, isRefused, toolItems.length > 0);
      const items = [...reasoningItems(reasoning, details.all()), ...textItems(text), ...toolItems];
      return { type: "stop", reason, items, usage };
    },
    isComplete: () => finishReason !== "",
  };
}

const textItems = (pieces: readonly string[]): ReplyItem[] =>
  pieces.length === 0 ? [] : [{ type: "text", text: pieces.join("") }];

function reasoningItems(pieces: readonly string[], details: readonly Fields[]): ReplyItem[] {
  if (pieces.length === 0 && details.length === 0) return [];
  return [
    {
      type: "reasoning",
      text: pieces.join(""),
      ...(details.length > 0 && { opaque: { reasoning_details: details } }),
    },
  ];
}

/** The reported usage; `null` if the value contains none. */
export function decodeUsage(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  if (!usage) return null;
  const input = reportedCount(usage["prompt_tokens"]);
  const reportedOutput = reportedCount(usage["completion_tokens"]);
  const total = reportedCount(usage["total_tokens"]);
  if (input === 0 && reportedOutput === 0 && total === 0) return null;
  // Some servers include reasoning tokens only in the total and not in `completion_tokens`. They
  // are billed as output.
  const output = Math.max(reportedOutput, total - input);
  const cachedTokens =
    reportedCount(fieldsOf(usage["prompt_tokens_details"])?.["cached_tokens"]) ||
    reportedCount(usage["prompt_cache_hit_tokens"]) ||
    reportedCount(usage["cached_tokens"]);
  const cacheWriteTokens = Math.min(
    reportedCount(fieldsOf(usage["prompt_tokens_details"])?.["cache_write_tokens"]),
    Math.max(0, input - cachedTokens),
  );
  const reasoning = reportedCount(
    fieldsOf(usage["completion_tokens_details"])?.["reasoning_tokens"],
  );
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: Math.min(reasoning, output),
    cached_tokens: Math.min(cachedTokens, input),
    ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
  };
}
