import type { StopReason, Usage } from "../../protocol/events";
import { hostedFields, withHostedUses } from "../hosted";
import { type ModelEvent, ProviderError } from "../provider";
import { replySize, reportedCount } from "../reply-size";
import { chargedSearches } from "./thinking";
import { createHostedUses } from "./hosted-uses";
import { createParts } from "./parts";
import { fieldsOf, readChunk } from "./schema";

export type Decoder = {
  /** Takes one parsed chunk; gives the events it makes. Throws for a reply without measure or a call in pieces only. */
  push(value: unknown): ModelEvent[];
  /** The reply's `stop`. Throws `stream_cut` if the provider never said that it was complete. */
  end(): ModelEvent;
  /** Whether the provider said how the reply ended, so that what breaks afterwards costs at most the usage. */
  isComplete(): boolean;
};

/**
 * Puts a streamed reply together. Work per chunk depends on the chunk only: pieces are kept and joined once, at the end.
 * Complete is a reply with a finish reason that nothing more is said after, or one whose prompt was blocked.
 */
export function createDecoder(model: string, takenIds: ReadonlySet<string>): Decoder {
  const grow = replySize();
  const parts = createParts(takenIds, grow);
  const hosted = createHostedUses(grow);
  let reported: Usage | null = null;
  let finishReason = "";
  let blockReason = "";

  const usage = () =>
    reported && withHostedUses(reported, { web_search: chargedSearches(model, hosted.queries()) });

  return {
    push(value) {
      const chunk = readChunk(value);
      const events: ModelEvent[] = [];
      for (const part of chunk.parts) {
        const event = parts.push(part);
        if (event) events.push(event);
        events.push(...hosted.takePart(part));
      }
      if (events.length > 0) finishReason = ""; // some proxies write one before the reply has said all
      if (chunk.grounding) events.push(...hosted.takeGrounding(chunk.grounding));
      if (endsReply(chunk.finishReason)) finishReason = chunk.finishReason;
      if (endsReply(chunk.blockReason)) blockReason = chunk.blockReason;
      reported = decodeUsage(chunk.usage) ?? reported;
      const charged = chunk.usage === undefined ? null : usage();
      if (charged) events.push({ type: "usage", usage: charged });
      return events;
    },
    end() {
      const reason = toStopReason(finishReason, blockReason, parts.hasCalls());
      return {
        type: "stop",
        reason,
        items: parts.items(),
        usage: usage(),
        ...hostedFields(hosted.uses(), hosted.citations()),
      };
    },
    isComplete: () => finishReason !== "" || blockReason !== "",
  };
}

/** The reported usage, cumulative over the reply, or null if the value reports none. */
export function decodeUsage(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  if (!usage) return null;
  // What hosted tools gave is input of the same call, counted apart from the prompt.
  const input =
    reportedCount(usage["promptTokenCount"]) + reportedCount(usage["toolUsePromptTokenCount"]);
  const reasoning = reportedCount(usage["thoughtsTokenCount"]);
  const total = reportedCount(usage["totalTokenCount"]);
  // Chunks that report no candidates' tokens yet may have them in the total.
  const output = Math.max(reportedCount(usage["candidatesTokenCount"]) + reasoning, total - input);
  if (input === 0 && output === 0) return null;
  const cached = Math.min(reportedCount(usage["cachedContentTokenCount"]), input);
  return {
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: reasoning,
    cached_tokens: cached,
  };
}

/** What the finish reasons mean; what is in no list is `unknown`. */

const NAMES: readonly (readonly [StopReason, readonly string[]])[] = [
  // The last two are of servers that only speak the format: calls are known by themselves.
  ["stop", ["STOP", "FUNCTION_CALL", "TOOL_CALLS"]],
  // The last two end a reply that could go on: at a limit of the server's own.
  ["length", ["MAX_TOKENS", "CONTINUATION", "TOO_MANY_TOOL_CALLS"]],
  [
    "content_filter",
    ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"],
  ],
  ["content_filter", ["IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"]],
  ["refusal", ["LANGUAGE"]],
];

const REASONS = new Map(
  NAMES.flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
);

/** By which the provider says, in a well-formed stream, that the model's reply broke off: another try may succeed. */
const BROKEN_OFF = new Set([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "MALFORMED_RESPONSE",
]);

/** By which it says that the request was wrong. */
const REFUSED = new Set(["MISSING_THOUGHT_SIGNATURE"]);

const UNSPECIFIED = /_UNSPECIFIED$/;

/** Whether the value ends a reply: the unset value of the enumeration, which some proxies write out, does not. */
const endsReply = (reason: string): boolean => reason !== "" && !UNSPECIFIED.test(reason);

/** Throws `stream_cut` where nothing says that the reply is complete, or something says that it is not. */
function toStopReason(finishReason: string, blockReason: string, hasCalls: boolean): StopReason {
  if (finishReason === "" && blockReason !== "") return "content_filter";
  if (finishReason === "") {
    throw new ProviderError(
      "transient",
      "stream_cut",
      "The stream ended before the provider said that the reply is complete.",
    );
  }
  if (BROKEN_OFF.has(finishReason)) {
    throw new ProviderError(
      "transient",
      "stream_cut",
      `The provider broke off its reply (${finishReason}).`,
    );
  }
  if (REFUSED.has(finishReason)) {
    throw new ProviderError(
      "bad_request",
      "bad_request",
      `The provider refused the conversation (${finishReason}).`,
    );
  }
  const reason = REASONS.get(finishReason) ?? "unknown";
  return reason === "stop" && hasCalls ? "tool_calls" : reason;
}
