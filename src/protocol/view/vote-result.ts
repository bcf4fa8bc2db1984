import { tallyOf } from "./attempt";
import type { AttemptView } from "./types";

/** How clearly the winning answer of an attempt won. */
export type VoteResult = {
  /** Number of votes for the winning answer. */
  votes: number;
  /** Number of counted votes. */
  of: number;
  /** Ids of the agents whose vote was counted, in the order of their votes. */
  voters: string[];
  /** Whether every agent voted for the winning answer. Always `false` for a team of one. */
  unanimous: boolean;
};

/**
 * Result of an attempt's vote; `null` before the attempt is settled, or if no answer won.
 * `teamSize` includes agents that dropped out.
 */
export function voteResult(attempt: AttemptView, teamSize: number): VoteResult | null {
  const label = attempt.settlement?.label;
  if (label == null) return null;
  const tally = tallyOf(attempt);
  const votes = tally[label] ?? 0;
  const of = Object.values(tally).reduce((sum, count) => sum + count, 0);
  const isUnanimous =
    attempt.settlement?.endedBy === "consensus" && votes === of && of === teamSize && teamSize > 1;
  return { votes, of, voters: votersOf(attempt, tally), unanimous: isUnanimous };
}

/**
 * Ids of the agents whose votes the tally counts. If no vote is valid, the rules count each agent's
 * last vote, if it is for an answer that can still win.
 */
function votersOf({ votes }: AttemptView, tally: Readonly<Record<string, number>>): string[] {
  const validVotes = votes.filter(({ valid }) => valid);
  if (validVotes.length > 0) return validVotes.map(({ voter }) => voter);
  const lastVotes = votes.filter(
    ({ voter }, index) => !votes.slice(index + 1).some((later) => later.voter === voter),
  );
  return lastVotes.filter(({ label }) => Object.hasOwn(tally, label)).map(({ voter }) => voter);
}
