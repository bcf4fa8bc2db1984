import { check, type NumberedEvent, type Outside } from "../../../checker";
import type { Corruption } from "../../../checker/corruptions";
import { play } from "../world/scripted-world";
import { STORIES } from "../world/stories";

/**
 * A corruption of a recorded script, with independent records, and the invariant that it violates
 * first.
 */
export type Row = {
  name: string;
  story?: string;
  corruption: Corruption;
  outside?: Outside;
  invariant: string;
};

/** The log of every script, by name. */
export const LOGS: ReadonlyMap<string, NumberedEvent[]> = new Map(
  Object.entries(STORIES).map(([name, script]) => [name, play(script).log]),
);

/** The log of a script. Throws if there is no script of this name. */
export function logOf(story = "consensus-at-once"): NumberedEvent[] {
  const log = LOGS.get(story);
  if (!log) throw new Error(`no story ${story}`);
  return log;
}

/** Maximum number of recorded places per sentence. */
const MAX_PLACES = 24;

/**
 * The violations of a corruption: each invariant and sentence once, after the sequence numbers
 * where it was found.
 */
export function violationsOf({ story, corruption, outside = {} }: Row): string[] {
  const found = check(corruption(logOf(story)), { finished: true, ...outside });
  return [...Map.groupBy(found, ({ invariant, sentence }) => `${invariant}: ${sentence}`)].map(
    ([violations, all]) => {
      const places = all.slice(0, MAX_PLACES).map(({ sequence_number }) => sequence_number);
      return `${places.join(" ")}${all.length > MAX_PLACES ? ` and ${all.length - MAX_PLACES} more` : ""} ${violations}`;
    },
  );
}
