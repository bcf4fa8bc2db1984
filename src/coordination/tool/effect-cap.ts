import { LIMITS } from "../limits";
import { isLive, type TurnState } from "../state";

/**
 * How many calls and tools a turn may start. The last of them are kept for decisions: no tool runs on them, and a call that
 * would use them asks for nothing else.
 */

/** Calls and tools that a turn may start before its presentation. */
export const effectsPerTurn = ({ rules }: TurnState): number =>
  Math.min(
    LIMITS.effectsMax,
    Math.max(LIMITS.effectsMin, LIMITS.effectsPerAgent * rules.agents.length),
  );

/** How many more effects the turn may start, when the tools that are owed have run. */
export function effectsLeft(turn: TurnState): number {
  const tools = turn.attempt.agents.flatMap(
    ({ round }) => round?.tools.filter(({ status }) => status === "owed") ?? [],
  );
  return effectsPerTurn(turn) - turn.effects - tools.length;
}

/** The same for work, without what is kept for decisions. */
export const workLeft = (turn: TurnState): number =>
  effectsLeft(turn) - LIMITS.decisionCallsPerRound * turn.rules.agents.length;

/**
 * How many calls with tools each agent that still works may make before the turn's effects are used up, if a call brings one tool.
 * At 0 only a decision is asked for.
 */
export function callsLeftInTurn(turn: TurnState): number {
  const { agents, settled } = turn.attempt;
  const working = settled
    ? 1
    : agents.filter((agent) => isLive(agent) && agent.vote === null).length;
  return Math.max(0, Math.ceil(workLeft(turn) / (2 * Math.max(1, working))));
}
