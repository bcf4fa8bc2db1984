import { type AgentState, type Answer, type AttemptState, candidates } from "../state";

type Tally = {
  winner: Answer | null;
  /** Votes by label, of the votes that counted. */
  votes: Record<string, number>;
  /** Whether another candidate had as many votes. */
  tie: boolean;
};

/**
 * The winner of an attempt, the only count there is: most valid votes; without any, most last votes whose exact revision is
 * still a candidate; without any, the highest revision that is whole. A tie goes to the earliest revision. Votes of failed agents
 * count.
 */
export function count(attempt: AttemptState): Tally {
  const standing = candidates(attempt);
  const valid = votesFor(standing, attempt.agents, (agent) => agent.vote?.revision);
  const counted =
    valid.size > 0
      ? valid
      : votesFor(standing, attempt.agents, (agent) => agent.lastVote?.revision);
  if (counted.size === 0) return { winner: unvoted(standing), votes: {}, tie: false };
  const most = Math.max(...counted.values());
  const leaders = standing.filter(({ revision }) => counted.get(revision) === most);
  const votes = Object.fromEntries(
    standing.flatMap(({ label, revision }) => {
      const got = counted.get(revision);
      return got === undefined ? [] : [[label, got]];
    }),
  );
  return { winner: leaders[0] ?? null, votes, tie: leaders.length > 1 };
}

/** Of nothing but cut answers: files come before text, then the longest text, of equals the first. */
function unvoted(standing: readonly Answer[]): Answer | null {
  const whole = standing.findLast(({ origin }) => origin === "tool");
  return whole ?? standing.toSorted((a, b) => worth(b) - worth(a) || b.bytes - a.bytes)[0] ?? null;
}
const worth = ({ files }: Answer): number => (files === "workspace" ? 1 : 0);

function votesFor(
  standing: readonly Answer[],
  agents: readonly AgentState[],
  revisionOf: (agent: AgentState) => number | undefined,
): Map<number, number> {
  const votes = new Map<number, number>();
  for (const agent of agents) {
    const revision = revisionOf(agent);
    if (revision === undefined || !standing.some((answer) => answer.revision === revision))
      continue;
    votes.set(revision, (votes.get(revision) ?? 0) + 1);
  }
  return votes;
}
