import type { AgentEnd, AttemptView, TurnView } from "./types";

/** Agents that took part in an attempt, and why the others did not. */

/** One agent's part in one attempt. */
export type Participant = {
  agent: string;
  status: AgentEnd["status"];
  tookPart: boolean;
  /** Why the agent dropped out, or why it has no part; `null` if it stayed to the end. */
  error: { code: string; message: string } | null;
};

/**
 * All agents of the turn, in the order of the config, as of `attempt` or its end. An agent took
 * part if it has an accepted answer or a valid vote there; without coordination, if it presents.
 * Empty for an earlier attempt of a turn that was stored before attempts kept their agents.
 */
export function participantsOf(turn: TurnView, attempt: AttemptView): Participant[] {
  const isLatest = attempt === turn.attempts.at(-1);
  const agents = isLatest ? turn.agents.map(endOf) : (attempt.agentEnds ?? []);
  return agents.map((agent) => {
    const tookPart = hasPart(attempt, agent.id);
    const isCancelled = isLatest && turn.status === "cancelled";
    const blamed = isLatest
      ? turn.failure?.agents.find((one) => one.agent === agent.id)
      : undefined;
    const error = agent.error ?? (blamed && { code: blamed.code, message: blamed.message }) ?? null;
    const isCut = !tookPart || isUnfinished(attempt, agent);
    return {
      agent: agent.id,
      status: agent.status,
      tookPart,
      error:
        error ?? (isCut ? silenceOf(cutBy(attempt, agent.id, isCancelled), agent, tookPart) : null),
    };
  });
}

/** The participants of the turn's latest attempt. */
export function participantsOfTurn(turn: TurnView): Participant[] {
  const attempt = turn.attempts.at(-1);
  if (attempt) return participantsOf(turn, attempt);
  const cut = turn.status === "cancelled" ? "cancelled" : null;
  return turn.agents.map(endOf).map((agent) => ({
    agent: agent.id,
    status: agent.status,
    tookPart: false,
    error: agent.error ?? silenceOf(cut, agent, false),
  }));
}

/** The data kept of an agent when the next attempt resets it. */
export function endOf({
  id,
  status,
  out,
  lastError,
  callError,
}: TurnView["agents"][number]): AgentEnd {
  if (out !== "failed" || lastError === null)
    return { id, status, error: null, callError: callError && withoutTime(callError) };
  const cause =
    callError === null || callError.code === lastError.code
      ? ""
      : ` Its last call failed: ${callError.message}`;
  return {
    id,
    status,
    error: { code: lastError.code, message: `${lastError.message}${cause}` },
    callError: null,
  };
}
const withoutTime = ({ code, message }: { code: string; message: string }) => ({ code, message });

/** Whether an agent has taken part in an attempt so far. */
export function hasPart(
  { answers, votes, settlement, presentation }: AttemptView,
  id: string,
): boolean {
  if (settlement?.endedBy === "skipped") return presentation?.agent === id;
  return (
    answers.some(({ agent }) => agent === id) ||
    votes.some(({ voter, valid }) => valid && voter === id)
  );
}

/** Whether the end of the attempt cut the agent's answer, and the agent did not vote after that. */
const isUnfinished = ({ cut }: AttemptView, { id, status }: AgentEnd): boolean =>
  cut?.includes(id) === true && status === "answered";

/** Reasons for the end of an attempt that can stop an agent before it has answered. */
export const TOO_LATE: ReadonlyMap<string, string> = new Map([
  ["deadline", "Time ran out"],
  ["budget", "The budget ran out"],
  ["cancelled", "The turn was cancelled"],
]);

/**
 * Why an agent stopped working in an attempt; `null` if it was not stopped. Without coordination,
 * only the presenter works.
 */
function cutBy(
  { answers, settlement }: AttemptView,
  id: string,
  isCancelled: boolean,
): string | null {
  if (!settlement) return isCancelled ? "cancelled" : null;
  if (settlement.endedBy !== "skipped") return settlement.endedBy;
  const isSilent = settlement.winner === id && !answers.some(({ agent }) => agent === id);
  return isCancelled && isSilent ? "cancelled" : null;
}

function silenceOf(
  cut: string | null,
  { callError }: AgentEnd,
  hasAnswer: boolean,
): Participant["error"] {
  const end = cut === null ? undefined : TOO_LATE.get(cut);
  if (cut === null || end === undefined) return null;
  const before = hasAnswer ? "it finished; what it had written is its answer" : "its first answer";
  const cause = callError === null ? "" : ` Its last call failed: ${callError.message}`;
  return { code: cut, message: `${end} before ${before}.${cause}` };
}
