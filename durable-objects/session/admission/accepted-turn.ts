import type { TeamKeys } from "../calls/team-keys";
import { type SessionLog, startOfTurn } from "../log/session-log";
import type { RepeatTurn, StartTurn } from "../session-api";

/**
 * The request as a session may store it: with sealed keys, and with the question of the turn that
 * it repeats. `null` if there is no such turn, or if it only summarises.
 */
export function acceptedTurn(
  requested: StartTurn | RepeatTurn,
  { log, keys }: { log: SessionLog; keys: Pick<TeamKeys, "seal"> },
): StartTurn | null {
  if ("repeats" in requested) return repeatedTurn(log, requested);
  return requested.team ? { ...requested, team: keys.seal(requested.team) } : requested;
}

/**
 * The contexts are named also if the turn had none, because the turn before it may have some. A
 * turn that was refused at its start has what its request named apart.
 */
function repeatedTurn(log: SessionLog, { repeats, ...request }: RepeatTurn): StartTurn | null {
  const repeated = startOfTurn(log, repeats);
  if (!repeated || repeated.kind === "compact") return null;
  const { question, parent_turn: parentTurn, attachments = [], requested = {} } = repeated;
  const { contexts: grants = repeated.grants ?? [], overrides = repeated.overrides } = requested;
  return {
    ...request,
    question,
    ...(attachments.length > 0 && {
      attachments: attachments.map(({ sha256, name }) => ({ sha256, name })),
    }),
    parentTurn,
    teamOf: repeats,
    grants,
    ...(overrides && { overrides }),
  };
}
