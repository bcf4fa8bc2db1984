import { newBoard } from "./board";
import { INVARIANTS } from "./invariants";
import { applyEvent } from "./replay";
import type { NumberedEvent, Outside, Violation } from "./types";

/**
 * Checks a session's log against the invariants and the rules of the protocol. Uses only the log
 * and optional outside records. Returns an empty list if nothing is wrong.
 */
export function check(log: readonly NumberedEvent[], outside: Outside = {}): Violation[] {
  const board = newBoard();
  const watchers = INVARIANTS.map(({ id, watch }) => ({ id, watcher: watch(outside) }));
  const violations: Violation[] = [];
  const withoutDeltas = log.filter(({ type }) => type !== "stream.delta");
  let nextIndex = 0;
  for (const event of log) {
    if (event === withoutDeltas[nextIndex]) nextIndex += 1;
    const next = withoutDeltas[nextIndex];
    for (const { id, watcher } of watchers) {
      for (const sentence of watcher.see({ event, board, next })) {
        violations.push({ invariant: id, sequence_number: event.sequence_number, sentence });
      }
    }
    applyEvent(board, event);
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
