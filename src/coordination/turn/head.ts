import type { Draft } from "../draft";
import { runningTurn, type SessionState } from "../state";

/**
 * The head of a session: the turn that the next turn continues unless it names another. A turn is
 * the head from its start. Between turns, the user may move the head to any turn.
 */

/** Why the head cannot be moved. */
export type HeadRefusal =
  /** `turn`: the running turn. */
  { ok: false; code: "turn_running"; turn: number } | { ok: false; code: "turn_not_found" };

/** Why the head cannot be moved to this turn; `null` if it can. */
export function headRefusal(state: SessionState, turn: number): HeadRefusal | null {
  const running = runningTurn(state);
  if (running) return { ok: false, code: "turn_running", turn: running.number };
  return turn < 1 || turn > state.turns ? { ok: false, code: "turn_not_found" } : null;
}

/** Moves the head. Does nothing if it cannot be moved, or is there already. */
export function moveHead(draft: Draft, turn: number): void {
  if (headRefusal(draft.state, turn) || headOf(draft.state) === turn) return;
  draft.add({ type: "head.moved", at: draft.at, turn: 0, head: turn });
}

/** The head of a session; `null` before the first turn. */
export const headOf = ({ head, turns }: Pick<SessionState, "head" | "turns">): number | null =>
  head ?? (turns === 0 ? null : turns);

/**
 * The turn that a new turn continues, which is `null` for the first turn of a session. `named`: the
 * turn that the request names; `null` for none; `undefined` leaves it to the head.
 */
export const parentOfNext = (
  state: Pick<SessionState, "head" | "turns">,
  named: number | null | undefined,
): number | null => (named === undefined ? headOf(state) : named);
