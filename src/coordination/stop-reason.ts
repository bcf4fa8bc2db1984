import type { StopReason } from "../protocol/events";

/** The provider held the reply, or the rest of it, back. */
export const isWithheld = (reason: StopReason): boolean => WITHHELD.has(reason);
/** A failure for that reason has the same word as its code. */
export const isWithheldCode = (code: string): boolean => WITHHELD.has(code);
const WITHHELD: ReadonlySet<string> = new Set(["content_filter", "refusal"] satisfies StopReason[]);

/** Nothing in a cut reply counts: it may hold half a tool call that looks like a whole one. */
export const isCut = (reason: StopReason): boolean => reason === "length" || isWithheld(reason);

/**
 * Where a text counts by itself, the provider must have said that it is all. A reason nobody knows may mean a cut; there only
 * tool calls count, whose JSON shows that they are complete.
 */
export const isWhole = (reason: StopReason): boolean => reason === "stop" || reason === "tool_calls";
