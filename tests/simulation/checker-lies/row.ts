import { check, type NumberedEvent, type Outside } from "../checker";
import type { Lie } from "../checker/lies";
import { play } from "../world/scripted-world";
import { STORIES } from "../world/stories";

/** A lie about a story, told with what is known from outside its log, and the rule that it breaks first of all. */
export type Row = { name: string; story?: string; lie: Lie; outside?: Outside; invariant: string };

/** The log of every story, by its name. */
export const LOGS: ReadonlyMap<string, NumberedEvent[]> = new Map(
  Object.entries(STORIES).map(([name, script]) => [name, play(script).log]),
);

/** The log of a story; of none by that name it throws. */
export function logOf(story = "consensus-at-once"): NumberedEvent[] {
  const log = LOGS.get(story);
  if (!log) throw new Error(`no story ${story}`);
  return log;
}

/** More of one lie than anybody reads. */
const MOST_TOLD = 24;

/** What the checker tells of a lie: the numbers of the events, the rules, the sentences, and how many more there are. */
export function toldOf({ story, lie, outside = {} }: Row): string[] {
  const told = check(lie(logOf(story)), { finished: true, ...outside }).map(
    ({ sequence_number, invariant, sentence }) => `${sequence_number} ${invariant}: ${sentence}`,
  );
  return told.length > MOST_TOLD ? [...told.slice(0, MOST_TOLD), `and ${told.length - MOST_TOLD} more`] : told;
}
