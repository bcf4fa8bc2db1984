import type { StopReason } from "../../protocol/events";

/**
 * The provider withheld the reply or the rest of it. A failure for this reason has the same code.
 */
export const isWithheld = (reason: string): boolean =>
  reason === "content_filter" || reason === "refusal";

/** Nothing in a cut reply counts: half a tool call may look complete. */
export const isCut = (reason: StopReason): boolean => reason === "length" || isWithheld(reason);

/**
 * Whether the provider stated that the text is complete. An unknown stop reason may mean a cut. In
 * such a reply only tool calls count: their JSON shows that they are complete.
 */
export const isWhole = (reason: StopReason): boolean =>
  reason === "stop" || reason === "tool_calls";
