import type { StopReason } from "../../protocol/events";

/**
 * Whether the provider withheld the reply or the rest of it. `reason` is a stop reason or the code
 * of a failure: both use the same words.
 */
export const isWithheld = (reason: string): boolean =>
  reason === "content_filter" || reason === "refusal";

/**
 * Whether the reply was cut. Nothing in such a reply counts, because half a tool call may look
 * complete.
 */
export const isCut = (reason: StopReason): boolean => reason === "length" || isWithheld(reason);

/**
 * Whether the reply ended normally, so that its text is complete. With an unknown stop reason, the
 * text may be cut. Only the tool calls of such a reply count, because valid JSON shows that they
 * are complete.
 */
export const isNormalStop = (reason: StopReason): boolean =>
  reason === "stop" || reason === "tool_calls";
