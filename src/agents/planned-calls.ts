import type { PlannedCall, PlannedCalls } from "../prompts/presentation";

/** The tool calls that an agent planned during coordination, as the presenter sees them. */

/**
 * Maximum UTF-16 units of one call's arguments, and of all calls together. The calls are part of
 * the presentation's start, which compaction never removes.
 */
export const PLANNED_LIMITS = { argumentChars: 4_000, chars: 32_000 } as const;

/** Characters of a call's number in its line. */
const LINE_CHARS = 8;

export const NOTHING_PLANNED: PlannedCalls = { calls: [], leftOut: 0 };

/**
 * The latest planned calls in the order of planning, with long arguments cut. `total` is the number
 * of all planned calls. `latestFirst` is read only while the calls fit.
 */
export function latestPlanned(latestFirst: Iterable<PlannedCall>, total: number): PlannedCalls {
  const calls: PlannedCall[] = [];
  let remainingChars: number = PLANNED_LIMITS.chars;
  for (const { name, arguments: text } of latestFirst) {
    const call = { name, arguments: cutArguments(text) };
    remainingChars -= call.name.length + call.arguments.length + LINE_CHARS;
    if (remainingChars < 0) break;
    calls.push(call);
  }
  return { calls: calls.toReversed(), leftOut: total - calls.length };
}

function cutArguments(text: string): string {
  const { argumentChars } = PLANNED_LIMITS;
  if (text.length <= argumentChars) return text;
  return `${text.slice(0, argumentChars).toWellFormed()} [… ${text.length - argumentChars} characters left out]`;
}
