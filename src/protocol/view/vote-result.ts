import { tallyOf } from "./attempt";
import type { AttemptView } from "./types";

/** What the count of an attempt's votes says of its winner. */
export type VoteResult = {
  /** Votes for the winning answer. */
  votes: number;
  /** All votes that were counted. */
  of: number;
  /** Agents whose vote was counted, in the order of their votes. */
  voters: string[];
  /** Every agent of the team voted, all for the winning answer. Never of an agent alone. */
  unanimous: boolean;
};

/** `null` before the attempt is settled and where no answer won. `teamSize` counts agents that dropped out too. */
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

/** Without a valid vote the rules count last votes whose answer is still the newest of its author. */
function votersOf({ votes }: AttemptView, tally: Readonly<Record<string, number>>): string[] {
  const valid = votes.filter(({ valid }) => valid);
  if (valid.length > 0) return valid.map(({ voter }) => voter);
  const last = votes.filter(
    ({ voter }, index) => !votes.slice(index + 1).some((later) => later.voter === voter),
  );
  return last.filter(({ label }) => Object.hasOwn(tally, label)).map(({ voter }) => voter);
}
