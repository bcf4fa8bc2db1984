import type { NumberedEvent } from "../../../checker";
import type { HistoryFacts } from "../../../src/coordination";

/**
 * The history of a turn that continues `parent`, as a log has it: the longest summary of the branch
 * and the turns after it. `bytesOf`: the size of a turn or of a summary.
 */
export function historyFacts(
  log: readonly NumberedEvent[],
  parent: number | null,
  bytesOf: (turn: number, what: "turn" | "summary") => number,
): HistoryFacts {
  const parents = new Map<number, number | null>();
  const failed = new Set<number>();
  const summaries = new Map<number, readonly number[]>();
  for (const event of log) {
    if (event.type === "turn.started") parents.set(event.turn, event.parent_turn);
    if (event.type === "turn.failed") failed.add(event.turn);
    if (event.type === "history.summarised") summaries.set(event.turns.at(-1) ?? 0, event.turns);
  }
  const turns: { turn: number; bytes: number }[] = [];
  for (let turn = parent; turn !== null; turn = parents.get(turn) ?? null) {
    const covered = summaries.get(turn);
    if (covered) return factsOf({ turns: covered, bytes: bytesOf(turn, "summary") }, turns);
    if (!failed.has(turn)) turns.unshift({ turn, bytes: bytesOf(turn, "turn") });
  }
  return factsOf(null, turns);
}

const factsOf = (summary: HistoryFacts["summary"], turns: HistoryFacts["turns"]): HistoryFacts => ({
  summary,
  turns,
  requestBytes: [],
  attachedTokens: 0,
});
