import type { SessionParts } from "../compose";

/**
 * Whether a turn may continue this turn: it exists, and it is a question. `null` and `undefined`
 * name no turn.
 */
export const isParent = (
  { coordinator, log }: Pick<SessionParts, "coordinator" | "log">,
  turn: number | null | undefined,
): boolean => turn == null || (turn <= coordinator.state.turns && !log.isCompact(turn));
