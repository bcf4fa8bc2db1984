import { check, type NumberedEvent, type Outside } from "../../../checker";
import type { Corruption } from "./corruptions";
import { play } from "../world/scripted-world";
import { SCRIPTS } from "../world/scripts";

/**
 * A corruption of a recorded script, with independent records, and the invariant that it violates
 * first.
 */
export type Row = {
  name: string;
  script?: string;
  corruption: Corruption;
  outside?: Outside;
  invariant: string;
};

/** The log of every script, by name. */
export const LOGS: ReadonlyMap<string, NumberedEvent[]> = new Map(
  Object.entries(SCRIPTS).map(([name, script]) => [name, play(script).log]),
);

/** The log of a script. Throws if there is no script of this name. */
export function logOf(script = "consensus-at-once"): NumberedEvent[] {
  const log = LOGS.get(script);
  if (!log) throw new Error(`no script ${script}`);
  return log;
}

/** Maximum number of recorded places per sentence. */
const MAX_PLACES = 24;

/**
 * The violations of a corruption: each invariant and sentence once, after the sequence numbers
 * where it was found.
 */
export function violationsOf({ script, corruption, outside = {} }: Row): string[] {
  const found = check(corruption(logOf(script)), { finished: true, ...outside });
  return [...Map.groupBy(found, ({ invariant, sentence }) => `${invariant}: ${sentence}`)].map(
    ([violations, all]) => {
      const places = all.slice(0, MAX_PLACES).map(({ sequence_number }) => sequence_number);
      return `${places.join(" ")}${all.length > MAX_PLACES ? ` and ${all.length - MAX_PLACES} more` : ""} ${violations}`;
    },
  );
}
