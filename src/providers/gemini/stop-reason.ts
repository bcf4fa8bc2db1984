import type { StopReason } from "../../protocol/events";
import { ProviderError } from "../provider";

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
export const endsReply = (reason: string): boolean => reason !== "" && !UNSPECIFIED.test(reason);

/** Throws `stream_cut` where nothing says that the reply is complete, or something says that it is not. */
export function toStopReason(
  finishReason: string,
  blockReason: string,
  hasCalls: boolean,
): StopReason {
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
