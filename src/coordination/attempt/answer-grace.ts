import { LIMITS } from "../limits";
import { type AttemptState, agentAt, isLive, type TurnState } from "../state";

/**
 * The grace: how long agents with an answer wait for agents without one. It starts with the team's
 * second answer. In large teams it follows the pace of the answers: each further first answer may
 * extend it, so that equally fast agents answer within it.
 */

type NewAnswer = { author: number; at: number };
type FirstAnswer = Pick<AttemptState, "firstAnswerAt">;
type Grace = Pick<AttemptState, "graceEndsAt"> & FirstAnswer;

/** The fields of the grace after an answer. `turn` is the state before the answer. */
export function graceAfter(turn: TurnState, answer: NewAnswer): Grace {
  const { attempt } = turn;
  const first: FirstAnswer = isPaced(turn)
    ? { firstAnswerAt: attempt.firstAnswerAt ?? answer.at }
    : {};
  if (attempt.answers.length === 1) return { ...first, graceEndsAt: graceEnd(attempt, answer.at) };
  const pacedEnd = pacedGraceEnd(turn, answer);
  const { graceEndsAt } = attempt;
  if (graceEndsAt === null || pacedEnd === null) return { ...first, graceEndsAt };
  return { ...first, graceEndsAt: Math.max(graceEndsAt, pacedEnd) };
}

const isPaced = ({ rules }: TurnState): boolean =>
  rules.paced_grace_agents !== undefined && rules.agents.length >= rules.paced_grace_agents;

/** When the grace ends that starts with the team's second answer (unix ms). */
function graceEnd({ startedAt }: AttemptState, at: number): number {
  const share = (at - startedAt) * LIMITS.graceShare;
  return at + Math.min(LIMITS.graceMaxMs, Math.max(LIMITS.graceMinMs, share));
}

/**
 * Until when the team waits after a first answer, if the missing answers follow at the pace of the
 * answers so far (unix ms). `null` if the answer does not extend the grace, or if only failing
 * members have no answer.
 */
function pacedGraceEnd(turn: TurnState, { author, at }: NewAnswer): number | null {
  const { startedAt, firstAnswerAt, agents } = turn.attempt;
  const isFirst = agentAt(turn.attempt, author).answers === 0;
  if (!isPaced(turn) || !isFirst || firstAnswerAt === undefined) return null;
  const missing = agents.filter(
    (agent) =>
      agent.index !== author && agent.answers === 0 && isLive(agent) && agent.failing === undefined,
  ).length;
  if (missing === 0) return null;
  const earlier = agents.filter(({ answers }) => answers > 0).length;
  const meanGap = (at - firstAnswerAt) / earlier;
  const wait = Math.min(
    LIMITS.pacedGraceMaxMs,
    (at - startedAt) * LIMITS.pacedGraceShare,
    (missing + LIMITS.pacedGraceGaps) * meanGap,
  );
  return at + Math.round(Math.max(LIMITS.pacedGraceMinMs, wait));
}
