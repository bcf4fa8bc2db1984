import { type HistoryEntry, turnsIn } from "./history";

/** What an agent with files reads about the files of earlier turns. */
export type EarlierFiles = {
  /**
   * Whether its workspace begins with the last result. Omitted: true. The workspace of a team's
   * presenter begins with the files of the chosen answer.
   */
  beginsWithResult?: boolean;
  /** Whether the agent sees uploaded directories. Omitted: false. */
  contexts?: boolean;
  /** Whether its commands run in a container, which has no `/turns`. Omitted: false. */
  container?: boolean;
};

/**
 * Maximum number of turns that the paragraph names. More turns would make each prompt of a long
 * conversation longer.
 */
const MAX_NAMED = 6;

/**
 * The paragraph on the files of earlier turns; `null` in a first turn, and for an agent without
 * files. It differs between turns, so it comes after the history, which stays the same for prompt
 * caches.
 */
export function earlierFilesParagraph(
  history: readonly HistoryEntry[],
  files: EarlierFiles | null,
): string | null {
  if (files === null || history.length === 0) return null;
  const { beginsWithResult = true, contexts = false, container = false } = files;
  return [
    ...(beginsWithResult ? [BEGINS_WITH_RESULT] : []),
    placesOf(history),
    ...(contexts ? [CONTEXTS] : []),
    COMPARE,
    ...(container ? [CONTAINER] : []),
  ].join(" ");
}

const BEGINS_WITH_RESULT =
  "`/workspace` begins with a writable copy of the files that the last turn left, if it left any: continue with these files.";

const CONTEXTS =
  "In such a directory, `contexts/NAME` is `/contexts/NAME` as that turn left it: compare the newest with `/contexts/NAME` to see what the user has changed since.";

const COMPARE =
  "To see what a turn changed, compare its directory with that of the turn before it.";

const CONTAINER =
  "`run_command` runs in a container, which has no `/turns`: read there with the file tools, and copy with `copy_file` what a command needs.";

/** Where the files of each earlier turn are. In a branch, numbers of turns have gaps. */
function placesOf(history: readonly HistoryEntry[]): string {
  const turns = turnsIn(history);
  const last = turns.length;
  const isInOrder = turns.every(({ message, turn }) => message === turn);
  if (isInOrder) {
    const range = last === 1 ? "" : `, and so on up to \`/turns/turn_${last}\``;
    return `\`/turns/turn_1\` holds, read-only, the files as they were after EARLIER MESSAGE 1${range}. ${PATHS}`;
  }
  const named = turns.slice(-MAX_NAMED).map(placeOf).join(", ");
  const more = last > MAX_NAMED ? "; list `/turns` for those before" : "";
  return `\`/turns\` holds, read-only, the files as they were after earlier messages: ${named}${more}. ${PATHS}`;
}

const placeOf = ({ message, turn }: { message: number; turn: number }): string =>
  `\`/turns/turn_${turn}\` after EARLIER MESSAGE ${message}`;

const PATHS = "Paths in earlier replies lead there.";
