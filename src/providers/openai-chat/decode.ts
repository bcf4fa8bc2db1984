import type { StopReason, Usage } from "../../protocol/events";
import { type ModelEvent, ProviderError, type ReplyItem } from "../provider";
import { type Chunk, readCalls, readChunk, readReasoning, readText, textOf } from "./schema";
import { createToolCalls } from "./tool-calls";
import { decodeUsage } from "./usage";

export type Decoder = {
  /** Takes one parsed chunk; gives the events it makes. Never throws for what it does not know. */
  push(value: unknown): ModelEvent[];
  /** The reply's `stop`. Throws `stream_cut` if the provider never said that it was complete. */
  end(): ModelEvent;
  /** Whether a finish reason came, so that what breaks afterwards costs at most the usage. */
  isComplete(): boolean;
};

/**
 * Puts a streamed reply together. Work per chunk depends on the chunk only: pieces are kept and joined once, at the end.
 *
 * Complete is a reply with a finish reason. `[DONE]` alone is no proof: proxies send it after losing their upstream.
 */
export function createDecoder(takenIds: ReadonlySet<string>): Decoder {
  const text: string[] = [];
  const reasoning: string[] = [];
  const calls = createToolCalls(takenIds);
  let usage: Usage | null = null;
  let finishReason = "";
  let refused = false;

  function* choiceEvents({ delta, finishReason: reason }: NonNullable<Chunk["choice"]>): Generator<ModelEvent> {
    const thought = readReasoning(delta);
    if (thought !== "") yield keep(reasoning, { type: "reasoning", text: thought });
    const said = readText(delta);
    if (said !== "") yield keep(text, { type: "text", text: said });
    for (const piece of readCalls(delta)) {
      const event = calls.push(piece);
      if (event) yield event;
    }
    refused ||= textOf(delta["refusal"]) !== "";
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
      const reason = toStopReason(finishReason, refused, toolItems.length > 0);
      return { type: "stop", reason, items: [...said("reasoning", reasoning), ...said("text", text), ...toolItems], usage };
    },
    isComplete: () => finishReason !== "",
  };
}

function keep(pieces: string[], event: ModelEvent & { text: string }): ModelEvent {
  pieces.push(event.text);
  return event;
}

const said = (type: "text" | "reasoning", pieces: readonly string[]): ReplyItem[] =>
  pieces.length === 0 ? [] : [{ type, text: pieces.join("") }];

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  eos: "stop",
  eos_token: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  tool_use: "tool_calls",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  content_filter: "content_filter",
  sensitive: "content_filter",
  safety: "content_filter",
  refusal: "refusal",
};

/** Finish reasons by which servers say, in a well-formed stream, that the reply broke off. */
const BROKEN_OFF = new Set(["error", "network_error", "abort", "insufficient_system_resource"]);

function toStopReason(finishReason: string, refused: boolean, hasCalls: boolean): StopReason {
  const name = finishReason.toLowerCase();
  if (name === "") {
    throw new ProviderError("transient", "stream_cut", "The stream ended before the provider said that the reply is complete.");
  }
  if (BROKEN_OFF.has(name)) {
    throw new ProviderError("transient", "stream_cut", `The provider broke off its reply (${name}).`);
  }
  const reason = STOP_REASONS[name] ?? "unknown";
  if (refused && reason === "stop") return "refusal";
  if (reason === "stop" || reason === "unknown") return hasCalls ? "tool_calls" : reason;
  return reason === "tool_calls" && !hasCalls ? "stop" : reason;
}
