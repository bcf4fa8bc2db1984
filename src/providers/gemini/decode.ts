import type { StopReason, Usage } from "../../protocol/events";
import { hostedFields, withHostedUses } from "../hosted";
import { type ModelEvent, ProviderError } from "../provider";
import { replySize, reportedCount } from "../reply-size";
import { chargedSearches } from "./thinking";
import { createHostedUses } from "./hosted-uses";
import { createParts } from "./parts";
import { fieldsOf, readChunk } from "./schema";

export type Decoder = {
  /**
   * Decodes one parsed chunk into events. Throws only if the reply exceeds the size limit, or if a
   * tool call arrives in pieces.
   */
  push(value: unknown): ModelEvent[];
  /** The reply's `stop`. Throws `stream_cut` if the end of the reply was not received. */
  end(): ModelEvent;
  /** Whether the end of the reply was received. After that, a failure can lose only the usage. */
  isComplete(): boolean;
};

/**
 * Assembles a streamed reply. The work per chunk does not grow with the reply: pieces are collected
 * and joined once at the end. A reply is complete if no content follows its finish reason, or if
 * its prompt was blocked.
 */
export function createDecoder(model: string, takenIds: ReadonlySet<string>): Decoder {
  const grow = replySize();
  const parts = createParts(takenIds, grow);
  const hosted = createHostedUses(grow);
  let reportedUsage: Usage | null = null;
  let finishReason = "";
  let blockReason = "";

  const usage = () =>
    reportedUsage &&
    withHostedUses(reportedUsage, { web_search: chargedSearches(model, hosted.queries()) });

  return {
    push(value) {
      const chunk = readChunk(value);
      const events: ModelEvent[] = [];
      for (const part of chunk.parts) {
        const event = parts.push(part);
        if (event) events.push(event);
        events.push(...hosted.takePart(part));
      }
      if (events.length > 0) finishReason = ""; // some proxies send a reason before the end
      if (chunk.grounding) events.push(...hosted.takeGrounding(chunk.grounding));
      if (endsReply(chunk.finishReason)) finishReason = chunk.finishReason;
      if (endsReply(chunk.blockReason)) blockReason = chunk.blockReason;
      reportedUsage = decodeUsage(chunk.usage) ?? reportedUsage;
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

/** The reported usage, cumulative over the reply; `null` if the value contains none. */
export function decodeUsage(value: unknown): Usage | null {
  const usage = fieldsOf(value);
  if (!usage) return null;
  // Results of hosted tools are input of the same call, counted separately from the prompt.
  const input =
    reportedCount(usage["promptTokenCount"]) + reportedCount(usage["toolUsePromptTokenCount"]);
  const reasoning = reportedCount(usage["thoughtsTokenCount"]);
  const total = reportedCount(usage["totalTokenCount"]);
  // A chunk may omit the candidate tokens and include them only in the total.
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

/** Finish reasons and our stop reasons. A reason that is not listed maps to `unknown`. */

const REASON_NAMES: readonly (readonly [StopReason, readonly string[]])[] = [
  // The last two names come from servers that only imitate the format. Whether there are tool calls
  // is determined from the parts.
  ["stop", ["STOP", "FUNCTION_CALL", "TOOL_CALLS"]],
  // With the last two names, a limit of the server ended a reply that could continue.
  ["length", ["MAX_TOKENS", "CONTINUATION", "TOO_MANY_TOOL_CALLS"]],
  [
    "content_filter",
    ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"],
  ],
  ["content_filter", ["IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"]],
  ["refusal", ["LANGUAGE"]],
];

const REASONS = new Map(
  REASON_NAMES.flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
);

/**
 * Finish reasons with which a well-formed stream ends although the reply is incomplete. A retry may
 * succeed.
 */
const INCOMPLETE_REASONS = new Set([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "MALFORMED_RESPONSE",
]);

/** Finish reasons that mean an invalid request. */
const INVALID_REQUEST_REASONS = new Set(["MISSING_THOUGHT_SIGNATURE"]);

const UNSPECIFIED = /_UNSPECIFIED$/;

/**
 * Whether this reason ends the reply. Some proxies send the "unspecified" value of the enumeration,
 * which does not end it.
 */
const endsReply = (reason: string): boolean => reason !== "" && !UNSPECIFIED.test(reason);

/**
 * The stop reason of a reply. Throws `stream_cut` if no reason was received, or if the reason means
 * that the reply is incomplete.
 */
function toStopReason(finishReason: string, blockReason: string, hasCalls: boolean): StopReason {
  if (finishReason === "" && blockReason !== "") return "content_filter";
  if (finishReason === "") {
    throw new ProviderError(
      "transient",
      "stream_cut",
      "The stream ended before the reply was complete.",
    );
  }
  if (INCOMPLETE_REASONS.has(finishReason)) {
    throw new ProviderError(
      "transient",
      "stream_cut",
      `The provider broke off its reply (${finishReason}).`,
    );
  }
  if (INVALID_REQUEST_REASONS.has(finishReason)) {
    throw new ProviderError(
      "bad_request",
      "bad_request",
      `The provider refused the conversation (${finishReason}).`,
    );
  }
  const reason = REASONS.get(finishReason) ?? "unknown";
  return reason === "stop" && hasCalls ? "tool_calls" : reason;
}
