import { type SessionLog, startOfTurn } from "../log/session-log";
import type { RepeatTurn, StartTurn } from "../session-api";

/**
 * The request that asks the question of an earlier turn again. `null` if there is no such turn. The
 * contexts are named also if the turn had none, because the turn before it may have some.
 */
export function repeatedTurn(
  log: SessionLog,
  { repeats, ...request }: RepeatTurn,
): StartTurn | null {
  const repeated = startOfTurn(log, repeats);
  if (!repeated) return null;
  const { question, parent_turn: parentTurn, attachments = [], grants = [], overrides } = repeated;
  return {
    ...request,
    question,
    ...(attachments.length > 0 && {
      attachments: attachments.map(({ sha256, name }) => ({ sha256, name })),
    }),
    parentTurn,
    grants,
    ...(overrides && { overrides }),
  };
}
