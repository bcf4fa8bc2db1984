import type { TurnView } from "../protocol/view";
import { type VoteResult, voteResult } from "../protocol/view/vote-result";

/** Ends that cut the voting short. */
const CUT_SHORT = new Map([
  ["deadline", ", when time ran out"],
  ["budget", ", when the budget ran out"],
  ["no_agents", ", when no agent was left"],
]);

/**
 * `endedBy`: the attempt's end, as the wire names it. `tie`: whether another answer has as many
 * votes.
 */
type Settlement = { winner: string | null; endedBy: string | null; tie: boolean };

/**
 * `4 of 12 votes`, `3 of 3 votes, unanimous`. A vote of an agent for its own answer alone does not
 * count as a vote of the team.
 */
export function voteWords(result: VoteResult, { winner, endedBy, tie }: Settlement): string {
  const tied = tie ? " (a tie: the earlier answer wins)" : "";
  return `${countWords(result, winner)}${tied}${CUT_SHORT.get(endedBy ?? "") ?? ""}`;
}

function countWords({ votes, of, voters, unanimous }: VoteResult, winner: string | null): string {
  if (of === 0) return "no votes";
  if (of === 1) return voters[0] === winner ? "no other agent voted" : "1 vote";
  return `${votes} of ${of} votes${unanimous ? ", unanimous" : ""}`;
}

/** The same for the winner of a turn's latest attempt; `null` if no answer won. */
export function winnerVotes(turn: TurnView): string | null {
  const attempt = turn.attempts.at(-1);
  const result = attempt ? voteResult(attempt, turn.agents.length) : null;
  const { endedBy = null, tie = false } = attempt?.settlement ?? {};
  return result && voteWords(result, { winner: turn.winner, endedBy, tie });
}
