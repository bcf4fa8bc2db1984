import type { StopReason } from "../../protocol/events";

/** The provider stopped in the middle and wants the reply back to go on with it. */
export const PAUSED = "pause_turn";

const REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "refusal"],
]);

/**
 * What a stop reason means. Calls count under whatever name for the end they come. A pause that is not gone on with is a cut:
 * `length` makes sure that nothing of it is taken for a whole, and that the model is asked again.
 */
export function toStopReason(name: string, hasCalls: boolean): StopReason {
  if (name === PAUSED) return hasCalls ? "tool_calls" : "length";
  const reason = REASONS.get(name) ?? "unknown";
  if (reason === "stop" || reason === "tool_calls") return hasCalls ? "tool_calls" : "stop";
  return reason;
}
