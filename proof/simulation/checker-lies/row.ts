import { check, type NumberedEvent, type Outside } from "../../../checker";
import type { Lie } from "../../../checker/lies";
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

/** More places of one sentence than anybody reads. */
const MOST_PLACES = 24;

/** What the checker tells of a lie: each rule and sentence once, after the numbers of the events that it is told of. */
export function toldOf({ story, lie, outside = {} }: Row): string[] {
  const found = check(lie(logOf(story)), { finished: true, ...outside });
  return [...Map.groupBy(found, ({ invariant, sentence }) => `${invariant}: ${sentence}`)].map(
    ([told, all]) => {
      const places = all.slice(0, MOST_PLACES).map(({ sequence_number }) => sequence_number);
      return `${places.join(" ")}${all.length > MOST_PLACES ? ` and ${all.length - MOST_PLACES} more` : ""} ${told}`;
    },
  );
}
