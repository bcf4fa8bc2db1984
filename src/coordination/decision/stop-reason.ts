import type { StopReason } from "../../protocol/events";

/** The provider held the reply, or the rest of it, back. The code of a failure for that reason is the same word. */
export const isWithheld = (reason: string): boolean =>
  reason === "content_filter" || reason === "refusal";

/** Nothing in a cut reply counts: it may hold half a tool call that looks like a whole one. */
export const isCut = (reason: StopReason): boolean => reason === "length" || isWithheld(reason);

/**
 * Where a text counts by itself, the provider must have said that it is all. A reason nobody knows may mean a cut; there only
 * tool calls count, whose JSON shows that they are complete.
 */
export const isWhole = (reason: StopReason): boolean =>
  reason === "stop" || reason === "tool_calls";
