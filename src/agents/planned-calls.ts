import type { PlannedCall, PlannedCalls } from "../prompts/presentation";

/** Tool calls that an agent planned while its team coordinated, as far as a presenter is shown them. */

/**
 * UTF-16 units of one call's arguments, and of all calls together: they stand at the start of the presentation, where nothing can be
 * dropped later to make room.
 */
export const PLANNED_LIMITS = { argumentChars: 4_000, chars: 32_000 } as const;

/** What a call's line has beside name and arguments: its number. */
const LINE_CHARS = 8;

export const NOTHING_PLANNED: PlannedCalls = { calls: [], leftOut: 0 };

/**
 * The latest of so many planned calls in all, each cut where it is long. `latestFirst` is read only as far as there is room, one call
 * at a time.
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
