import type { AgentEnd, AttemptView, TurnView } from "./types";

/** Which agents took part in an attempt, and why the other agents did not. */

/** One agent's part in one attempt. */
export type Participant = {
  agent: string;
  status: AgentEnd["status"];
  tookPart: boolean;
  /** Why the agent dropped out or did not take part; `null` if it worked until the end. */
  error: { code: string; message: string } | null;
};

/**
 * All agents of the turn, in the order of the config, with their state in `attempt`. For an earlier
 * attempt, this is the state at its end. An agent took part if it has an accepted answer or a valid
 * vote in the attempt. Without coordination, only the presenter takes part.
 *
 * Empty for an earlier attempt in older data, which lacks `agentEnds`.
 */
export function participantsOf(turn: TurnView, attempt: AttemptView): Participant[] {
  const isLatest = attempt === turn.attempts.at(-1);
  const agents = isLatest ? turn.agents.map(endOf) : (attempt.agentEnds ?? []);
  return agents.map((agent) => {
    const tookPart = hasPart(attempt, agent.id);
    const isCancelled = isLatest && turn.status === "cancelled";
    const failure = isLatest
      ? turn.failure?.agents.find((failed) => failed.agent === agent.id)
      : undefined;
    const turnError = failure && { code: failure.code, message: failure.message };
    const error = agent.error ?? turnError ?? null;
    const isCut = !tookPart || isUnfinished(attempt, agent);
    const ending = endingOf(attempt, agent.id, isCancelled);
    return {
      agent: agent.id,
      status: agent.status,
      tookPart,
      error: error ?? (isCut ? cutErrorOf(ending, agent, tookPart) : null),
    };
  });
}

/** The participants of the turn's latest attempt. */
export function participantsOfTurn(turn: TurnView): Participant[] {
  const attempt = turn.attempts.at(-1);
  if (attempt) return participantsOf(turn, attempt);
  const ending = turn.status === "cancelled" ? "cancelled" : null;
  return turn.agents.map(endOf).map((agent) => ({
    agent: agent.id,
    status: agent.status,
    tookPart: false,
    error: agent.error ?? cutErrorOf(ending, agent, false),
  }));
}

/** The data of an agent that its attempt keeps when the next attempt resets the agent. */
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

/** Whether an agent has already taken part in an attempt. */
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

/** Whether the end of coordination cut the agent's answer, and the agent did not vote later. */
const isUnfinished = ({ cut }: AttemptView, { id, status }: AgentEnd): boolean =>
  cut?.includes(id) === true && status === "answered";

/** Endings of an attempt that can stop an agent before it has answered, as clauses. */
export const TOO_LATE: ReadonlyMap<string, string> = new Map([
  ["deadline", "Time ran out"],
  ["budget", "The budget ran out"],
  ["cancelled", "The turn was cancelled"],
]);

/**
 * How the attempt ended for an agent: `ended_by` of the settlement, or `cancelled`; `null` if the
 * attempt has not ended. Without coordination, only the presenter works, so a cancellation stops
 * only the presenter.
 */
function endingOf(
  { answers, settlement }: AttemptView,
  id: string,
  isCancelled: boolean,
): string | null {
  if (!settlement) return isCancelled ? "cancelled" : null;
  if (settlement.endedBy !== "skipped") return settlement.endedBy;
  const isPresenter = settlement.winner === id;
  const hasAnswer = answers.some(({ agent }) => agent === id);
  return isCancelled && isPresenter && !hasAnswer ? "cancelled" : null;
}

/** Why an agent did not finish; `null` if `ending` does not stop agents. */
function cutErrorOf(
  ending: string | null,
  { callError }: AgentEnd,
  hasAnswer: boolean,
): Participant["error"] {
  const reason = ending === null ? undefined : TOO_LATE.get(ending);
  if (ending === null || reason === undefined) return null;
  const goal = hasAnswer ? "it finished; what it had written is its answer" : "its first answer";
  const cause = callError === null ? "" : ` Its last call failed: ${callError.message}`;
  return { code: ending, message: `${reason} before ${goal}.${cause}` };
}
