import { newBoard } from "./board";
import { INVARIANTS } from "./invariants";
import { note } from "./replay";
import type { NumberedEvent, Outside, Violation } from "./types";

/**
 * Reads a session's log and says where it breaks an invariant of `robustness.md` §2 or a rule of `protocol.md`. Knows
 * nothing but the log and, if given, records from outside. An empty list means that nothing is wrong.
 */
export function check(log: readonly NumberedEvent[], outside: Outside = {}): Violation[] {
  const board = newBoard();
  const watchers = INVARIANTS.map(({ id, watch }) => ({ id, watcher: watch(outside) }));
  const violations: Violation[] = [];
  const facts = log.filter(({ type }) => type !== "stream.delta");
  let fact = 0;
  for (const event of log) {
    if (event === facts[fact]) fact += 1;
    for (const { id, watcher } of watchers) {
      for (const sentence of watcher.see({ event, board, next: facts[fact] })) {
        violations.push({ invariant: id, sequence_number: event.sequence_number, sentence });
      }
    }
    note(board, event);
  }
  for (const { id, watcher } of watchers) {
    for (const sentence of watcher.finish?.(board) ?? []) {
      violations.push({
        invariant: id,
        sequence_number: log.at(-1)?.sequence_number ?? 0,
        sentence,
      });
    }
  }
  return violations;
}
