import type { StopReason } from "../protocol/events";

/** The provider held the reply, or the rest of it, back. */
export const isWithheld = (reason: StopReason): boolean => reason === "content_filter" || reason === "refusal";

/** A reply that was cut may hold half a tool call that looks like a whole one: nothing in it counts. */
export const isWhole = (reason: StopReason): boolean => reason !== "length" && !isWithheld(reason);
