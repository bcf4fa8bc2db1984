import type { StopReason } from "../../protocol/events";
import { ProviderError } from "../provider";

/**
 * The finish reasons of all compatible servers and our stop reasons. A reason that is not listed
 * maps to `unknown`.
 */

const REASON_NAMES: readonly (readonly [StopReason, readonly string[]])[] = [
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
  REASON_NAMES.flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
);

/** Finish reasons with which a well-formed stream ends although the reply is incomplete. */
const INCOMPLETE_REASONS = new Set([
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

/**
 * The stop reason of a reply. Throws `stream_cut` if no finish reason was received, or if the
 * reason means that the reply is incomplete. `isRefused`: whether the reply contains a refusal.
 */
export function toStopReason(
  finishReason: string,
  isRefused: boolean,
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
  if (INCOMPLETE_REASONS.has(name)) {
    throw new ProviderError(
      "transient",
      "stream_cut",
      `The provider broke off its reply (${name}).`,
    );
  }
  const reason = REASONS.get(name) ?? "unknown";
  if (isRefused && reason === "stop") return "refusal";
  if (reason === "stop" || reason === "tool_calls") return hasCalls ? "tool_calls" : "stop";
  return reason;
}
