import type { Decision } from "../../protocol/events";
import { byteLength } from "../byte-length";
import type { Draft } from "../draft";
import { injectAnswers } from "./injection";
import { LIMITS } from "../limits";
import {
  agentAt,
  answerAt,
  candidates,
  newestRevision,
  type AgentState,
  type Answer,
  type AttemptState,
} from "../state";

/** The rules of `vote`: which votes are accepted, and which answer wins. */

type Vote = Extract<Decision, { name: "vote" }>;

/**
 * Accepts or refuses a vote. The vote is `stale` if the agent has not seen the newest answers.
 * These are then shown to it, and it continues without a reminder.
 */
export function proposeVote(
  draft: Draft,
  index: number,
  proposed: Vote,
): "accepted" | "refused" | "stale" {
  const { attempt } = draft;
  const refusal = refusalOf(draft, index, proposed);
  if (refusal) {
    draft.add({
      type: "vote.refused",
      ...draft.roundFields(index),
      tool_call: proposed.tool_call,
      ...refusal,
    });
    return "refused";
  }
  const { label, revision } = answerAt(
    attempt,
    agentAt(attempt, draft.turn.aliases.indexOf(proposed.alias)).newest,
  );
  const { seen } = agentAt(attempt, index);
  if (seen < newestRevision(attempt)) {
    const missing = candidates(attempt).filter((answer) => answer.revision > seen);
    draft.add({
      type: "vote.stale",
      ...draft.roundFields(index),
      tool_call: proposed.tool_call,
      label,
      missing: missing.map((answer) => answer.label),
    });
    injectAnswers(draft, index, "message");
    return "stale";
  }
  draft.add({
    type: "vote.cast",
    ...draft.roundFields(index),
    tool_call: proposed.tool_call,
    label,
    revision,
    reason: proposed.reason,
  });
  return "accepted";
}

function refusalOf(
  draft: Draft,
  index: number,
  { alias, reason }: Vote,
): { code: string; message: string } | null {
  const { attempt, turn } = draft;
  const voter = agentAt(attempt, index);
  if (voter.answers === 0) {
    return {
      code: "answer_first",
      message: "Give your own answer with `new_answer` before you vote.",
    };
  }
  const target = turn.aliases.indexOf(alias);
  const shown = new Set(
    voter.shown.map((revision) => turn.aliases[answerAt(attempt, revision).agent]),
  );
  const hint = `Vote for one of: ${[...shown].sort().join(", ")}.`;
  if (target < 0) return { code: "unknown_alias", message: `There is no such agent. ${hint}` };
  if (agentAt(attempt, target).newest === 0)
    return { code: "no_answer", message: `That agent has no answer yet. ${hint}` };
  if (byteLength(reason) > LIMITS.reasonBytes)
    return { code: "reason_too_long", message: "Give the reason in at most 4 KB." };
  return null;
}

type Tally = {
  winner: Answer | null;
  /** Number of counted votes by answer label; answers without a vote are omitted. */
  votes: Record<string, number>;
  /** Whether another candidate has as many votes as the winner. */
  tie: boolean;
};

/**
 * Determines the winner of an attempt: the candidate with the most valid votes. If no vote is
 * valid, the last vote of each agent counts, as far as it is for a candidate. If there is no such
 * vote either, the newest complete answer wins. In a tie, the earliest revision wins. Votes of
 * failed agents count.
 */
export function tallyVotes(attempt: AttemptState): Tally {
  const eligible = candidates(attempt);
  const validVotes = votesFor(eligible, attempt.agents, (agent) => agent.vote?.revision);
  const countedVotes =
    validVotes.size > 0
      ? validVotes
      : votesFor(eligible, attempt.agents, (agent) => agent.lastVote?.revision);
  if (countedVotes.size === 0) return { winner: bestUnvoted(eligible), votes: {}, tie: false };
  const highestCount = Math.max(...countedVotes.values());
  const leaders = eligible.filter(({ revision }) => countedVotes.get(revision) === highestCount);
  const votes = Object.fromEntries(
    eligible.flatMap(({ label, revision }) => {
      const count = countedVotes.get(revision);
      return count === undefined ? [] : [[label, count]];
    }),
  );
  return { winner: leaders[0] ?? null, votes, tie: leaders.length > 1 };
}

/**
 * The winner if there are no votes: the newest complete answer. If all answers are partial, an
 * answer with files wins before one without, then the longest text, then the earliest revision.
 */
function bestUnvoted(eligible: readonly Answer[]): Answer | null {
  const newestComplete = eligible.findLast(({ origin }) => origin === "tool");
  const [bestPartial = null] = eligible.toSorted(
    (a, b) => fileRank(b) - fileRank(a) || b.bytes - a.bytes,
  );
  return newestComplete ?? bestPartial;
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
