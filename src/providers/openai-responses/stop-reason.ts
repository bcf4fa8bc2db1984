import type { StopReason } from "../../protocol/events";
import { type Fields, fieldsOf, textOf } from "./schema";

const CUT_SHORT: Readonly<Record<string, StopReason>> = {
  max_output_tokens: "length",
  max_tokens: "length",
  content_filter: "content_filter",
};

/** Why a response ended that the provider called complete or incomplete. */
export function toStopReason(
  response: Fields,
  found: { hasCalls: boolean; refused: boolean },
): StopReason {
  if (response["status"] === "incomplete") {
    const reason = textOf(fieldsOf(response["incomplete_details"])["reason"]);
    return (Object.hasOwn(CUT_SHORT, reason) ? CUT_SHORT[reason] : undefined) ?? "unknown";
  }
  if (found.hasCalls) return "tool_calls";
  return found.refused ? "refusal" : "stop";
}
