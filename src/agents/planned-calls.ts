import type { PlannedCall, PlannedCalls } from "../prompts/presentation";

/** Tool calls that an agent planned during coordination, as shown to the presenter. */

/**
 * UTF-16 units of one call's arguments, and of all calls together. They are at the start of the
 * presentation, which compaction never removes.
 */
export const PLANNED_LIMITS = { argumentChars: 4_000, chars: 32_000 } as const;

/** The number of a call in its line. */
const LINE_CHARS = 8;

export const NOTHING_PLANNED: PlannedCalls = { calls: [], leftOut: 0 };

/**
 * The latest of `total` planned calls, with long ones cut. Reads `latestFirst` lazily, only while
 * there is room.
 */
export function latestPlanned(latestFirst: Iterable<PlannedCall>, total: number): PlannedCalls {
  const calls: PlannedCall[] = [];
  let room: number = PLANNED_LIMITS.chars;
  for (const { name, arguments: text } of latestFirst) {
    const call = { name, arguments: cut(text) };
    room -= call.name.length + call.arguments.length + LINE_CHARS;
    if (room < 0) break;
    calls.push(call);
  }
  return { calls: calls.toReversed(), leftOut: total - calls.length };
}

function cut(text: string): string {
  const { argumentChars } = PLANNED_LIMITS;
  if (text.length <= argumentChars) return text;
  return `${text.slice(0, argumentChars).toWellFormed()} [… ${text.length - argumentChars} characters left out]`;
}
