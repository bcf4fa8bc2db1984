import { check, type NumberedEvent, type Outside } from "../../../checker";
import type { Corruption } from "./corruptions";
import { play } from "../world/scripted-world";
import { SCRIPTS } from "../world/scripts";

/** A corruption of a script's log, which the checker must report. */
export type Row = {
  /** The key of its violations in `violations.txt`. */
  name: string;
  /** The script whose log is corrupted; by default the script of `logOf`. */
  script?: string;
  corruption: Corruption;
  /** Records that were made outside the log, such as the providers' ledger. */
  outside?: Outside;
  /** The invariant that the first reported violation names. */
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

/** Maximum number of recorded sequence numbers per sentence. */
const MAX_PLACES = 24;

/**
 * The violations of a corruption, in the form of the record: sequence numbers, then the invariant
 * and the sentence. Equal sentences are combined into one.
 */
export function violationsOf({ script, corruption, outside = {} }: Row): string[] {
  const found = check(corruption(logOf(script)), { finished: true, ...outside });
  const bySentence = Map.groupBy(found, ({ invariant, sentence }) => `${invariant}: ${sentence}`);
  return [...bySentence].map(([sentence, all]) => {
    const places = all.slice(0, MAX_PLACES).map(({ sequence_number }) => sequence_number);
    const rest = all.length > MAX_PLACES ? ` and ${all.length - MAX_PLACES} more` : "";
    return `${places.join(" ")}${rest} ${sentence}`;
  });
}
