import type { TurnView } from "../protocol/view";
import { type VoteResult, voteResult } from "../protocol/view/vote-result";

/** Words for the ends of an attempt that stop the voting early. */
const EARLY_END_WORDS = new Map([
  ["deadline", ", when time ran out"],
  ["budget", ", when the budget ran out"],
  ["no_agents", ", when no agent was left"],
]);

/**
 * How an attempt ended. `endedBy`: the field `ended_by` of its event. `tie`: whether another answer
 * has the same number of votes.
 */
type Settlement = { winner: string | null; endedBy: string | null; tie: boolean };

/**
 * Describes the result of a vote: `4 of 12 votes`, `3 of 3 votes, unanimous`. If the winner's vote
 * for its own answer is the only vote, the text says that no other agent voted.
 */
export function voteWords(result: VoteResult, { winner, endedBy, tie }: Settlement): string {
  const tied = tie ? " (a tie: the earlier answer wins)" : "";
  return `${countWords(result, winner)}${tied}${EARLY_END_WORDS.get(endedBy ?? "") ?? ""}`;
}

function countWords({ votes, of, voters, unanimous }: VoteResult, winner: string | null): string {
  if (of === 0) return "no votes";
  if (of === 1) return voters[0] === winner ? "no other agent voted" : "1 vote";
  return `${votes} of ${of} votes${unanimous ? ", unanimous" : ""}`;
}

/** Describes the vote of a turn's latest attempt, like `voteWords`; `null` if no answer won. */
export function winnerVotes(turn: TurnView): string | null {
  const attempt = turn.attempts.at(-1);
  const result = attempt ? voteResult(attempt, turn.agents.length) : null;
  const { endedBy = null, tie = false } = attempt?.settlement ?? {};
  return result && voteWords(result, { winner: turn.winner, endedBy, tie });
}
