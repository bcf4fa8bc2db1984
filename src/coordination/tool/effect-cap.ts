import { LIMITS } from "../limits";
import { isLive, type TurnState } from "../state";

/**
 * How many calls and tools a turn may start. The last ones are reserved for decisions: no tool runs
 * on them, and a call that uses them asks only for a decision.
 */

/** Calls and tools that a turn may start before its presentation. */
export const effectsPerTurn = ({ rules }: TurnState): number =>
  Math.min(
    LIMITS.effectsMax,
    Math.max(LIMITS.effectsMin, LIMITS.effectsPerAgent * rules.agents.length),
  );

/** Effects that the turn may still start after the tools that are owed. */
export function effectsLeft(turn: TurnState): number {
  const tools = turn.attempt.agents.flatMap(
    ({ round }) => round?.tools.filter(({ status }) => status === "owed") ?? [],
  );
  return effectsPerTurn(turn) - turn.effects - tools.length;
}

/** As `effectsLeft`, without the effects reserved for decisions. */
export const workLeft = (turn: TurnState): number =>
  effectsLeft(turn) - LIMITS.decisionCallsPerRound * turn.rules.agents.length;

/**
 * Calls with tools that each working agent may still make, if each call runs one tool. At 0 calls
 * ask only for a decision.
 */
export function callsLeftInTurn(turn: TurnState): number {
  const { agents, settled } = turn.attempt;
  const working = settled
    ? 1
    : agents.filter((agent) => isLive(agent) && agent.vote === null).length;
  return Math.max(0, Math.ceil(workLeft(turn) / (2 * Math.max(1, working))));
}
