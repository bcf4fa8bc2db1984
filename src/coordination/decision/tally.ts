import { type AgentState, type Answer, type AttemptState, candidates } from "../state";

type Tally = {
  winner: Answer | null;
  /** Counted votes by answer label. */
  votes: Record<string, number>;
  /** Whether another candidate has as many votes. */
  tie: boolean;
};

/**
 * Determines the winner of an attempt: most valid votes; without any, most last votes for a
 * revision that is still a candidate; without any, the newest complete answer. Ties go to the
 * earliest revision. Votes of failed agents count.
 */
export function tallyVotes(attempt: AttemptState): Tally {
  const eligible = candidates(attempt);
  const valid = votesFor(eligible, attempt.agents, (agent) => agent.vote?.revision);
  const counted =
    valid.size > 0
      ? valid
      : votesFor(eligible, attempt.agents, (agent) => agent.lastVote?.revision);
  if (counted.size === 0) return { winner: bestUnvoted(eligible), votes: {}, tie: false };
  const most = Math.max(...counted.values());
  const leaders = eligible.filter(({ revision }) => counted.get(revision) === most);
  const votes = Object.fromEntries(
    eligible.flatMap(({ label, revision }) => {
      const got = counted.get(revision);
      return got === undefined ? [] : [[label, got]];
    }),
  );
  return { winner: leaders[0] ?? null, votes, tie: leaders.length > 1 };
}

/**
 * Without votes and complete answers: answers with files first, then the longest text, then the
 * first.
 */
function bestUnvoted(eligible: readonly Answer[]): Answer | null {
  const whole = eligible.findLast(({ origin }) => origin === "tool");
  const [best = null] = eligible.toSorted((a, b) => fileRank(b) - fileRank(a) || b.bytes - a.bytes);
  return whole ?? best;
}
const fileRank = ({ files }: Answer): number => (files === "workspace" ? 1 : 0);

function votesFor(
  eligible: readonly Answer[],
  agents: readonly AgentState[],
  revisionOf: (agent: AgentState) => number | undefined,
): Map<number, number> {
  const votes = new Map<number, number>();
  for (const agent of agents) {
    const revision = revisionOf(agent);
    if (revision === undefined || !eligible.some((answer) => answer.revision === revision))
      continue;
    votes.set(revision, (votes.get(revision) ?? 0) + 1);
  }
  return votes;
}
