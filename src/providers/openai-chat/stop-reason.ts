import type { StopReason } from "../../protocol/events";
import { ProviderError } from "../provider";

/** Maps finish reasons of all compatible servers. A name that is not listed maps to `unknown`. */

const NAMES: readonly (readonly [StopReason, readonly string[]])[] = [
  [
    "stop",
    [
      "stop",
      "eos",
      "eos_token",
      "end",
      "end_turn",
      "stop_sequence",
      "complete",
      "completed",
      "finished",
      "done",
    ],
  ],
  ["tool_calls", ["tool_calls", "tool_call", "function_call", "tool_use"]],
  [
    "length",
    [
      "length",
      "max_tokens",
      "max_output_tokens",
      "max_completion_tokens",
      "model_length",
      "incomplete",
      "truncated",
    ],
  ],
  ["length", ["model_context_window_exceeded", "context_length_exceeded"]],
  [
    "content_filter",
    [
      "content_filter",
      "contentfilter",
      "content_filtered",
      "content_filter_error",
      "moderation",
      "blocked",
    ],
  ],
  [
    "content_filter",
    [
      "sensitive",
      "safety",
      "image_safety",
      "recitation",
      "prohibited_content",
      "blocklist",
      "spii",
    ],
  ],
  ["content_filter", ["guardrail_intervened"]],
  ["refusal", ["refusal"]],
];

const REASONS = new Map(
  NAMES.flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
);

/** Reasons of a well-formed stream whose reply is nevertheless incomplete. */
const BROKEN_OFF = new Set([
  "error",
  "server_error",
  "network_error",
  "insufficient_system_resource",
  "abort",
  "aborted",
  "cancelled",
  "canceled",
  "timeout",
  "time_limit",
  "malformed_function_call",
  "malformed_response",
  "unexpected_tool_call",
]);

/** Throws `stream_cut` if the end of the reply is missing or the reason says that it broke off. */
export function toStopReason(
  finishReason: string,
  refused: boolean,
  hasCalls: boolean,
): StopReason {
  const name = finishReason.toLowerCase().replaceAll("-", "_");
  if (name === "") {
    throw new ProviderError(
      "transient",
      "stream_cut",
      "The stream ended before the reply was complete.",
    );
  }
  if (BROKEN_OFF.has(name)) {
    throw new ProviderError(
      "transient",
      "stream_cut",
      `The provider broke off its reply (${name}).`,
    );
  }
  const reason = REASONS.get(name) ?? "unknown";
  if (refused && reason === "stop") return "refusal";
  if (reason === "stop" || reason === "tool_calls") return hasCalls ? "tool_calls" : "stop";
  return reason;
}
