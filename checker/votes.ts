import {
  agentOf,
  answerOf,
  type Board,
  type BoardAgent,
  type BoardAnswer,
  newestAnswers,
  unseenBy,
} from "./board";
import { type Invariant, type Moment, unless } from "./types";

/**
 * I5: a vote is for the newest answer of an agent. The voter was shown every newest answer, and has
 * at most one valid vote.
 */
export const votes: Invariant = {
  id: "I5",
  watch: () => ({
    see: (moment) => {
      const { event, board } = moment;
      if (
        event.type !== "vote.cast" &&
        event.type !== "vote.stale" &&
        event.type !== "vote.refused"
      )
        return [];
      const voter = agentOf(board, event.agent);
      if (!voter) return [`a vote of ${event.agent}, who is not in the team`];
      return [...voterViolations(board, voter), ...voteViolations(moment, voter)];
    },
  }),
};

/** Violations if the voter must not vote now. */
function voterViolations(board: Board, voter: BoardAgent): string[] {
  return [
    ...unless(board.settled === null, "a vote after the attempt was settled"),
    ...unless(voter.out === null, "an agent that is out voted"),
    ...unless(
      voter.round?.purpose === "coordination" && !voter.round.hasVoted,
      "a vote outside an open round",
    ),
    ...unless(voter.vote === null, "an agent with a valid vote voted again"),
  ];
}

function voteViolations({ event, board }: Moment, voter: BoardAgent): string[] {
  const unseen = unseenBy(board, voter);
  switch (event.type) {
    case "vote.cast": {
      const target = answerOf(board, event.label);
      return [
        ...unless(
          target !== undefined && newestAnswers(board).includes(target),
          `a vote for ${event.label}, which is no agent's newest answer`,
        ),
        ...unless(
          target?.revision === event.revision,
          "a vote whose label and revision are of different answers",
        ),
        ...unless(
          target === undefined || voter.shownRevisions.has(target.revision),
          `a vote for ${event.label}, which the voter was never shown`,
        ),
        ...unless(
          unseen.length === 0,
          "a vote counted although its voter had not been shown every newest answer",
        ),
        ...unless(voter.answers > 0, "an agent without an answer voted"),
        ...unless(new TextEncoder().encode(event.reason).byteLength <= 4_096, "a reason over 4 KB"),
      ];
    }
    case "vote.stale": {
      const missing = unseen.map(({ label }) => label);
      const target = answerOf(board, event.label);
      return [
        ...unless(missing.length > 0, "a vote is stale although its voter had seen everything"),
        ...unless(
          [...event.missing].sort().join() === missing.sort().join(),
          "a stale vote does not name what was missing",
        ),
        ...unless(
          target !== undefined && newestAnswers(board).includes(target),
          "a stale vote for an answer that is no agent's newest",
        ),
      ];
    }
    default:
      return [];
  }
}

/** I5: an independent recount finds the same winner, tally, tie and label. */
export const recount: Invariant = {
  id: "I5-winner",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "attempt.settled") return [];
      if (event.ended_by === "skipped")
        return unless(
          event.winner === board.agents[0]?.id && event.label === null,
          "skipped, but the first agent does not present",
        );
      const { label, tally, tie } = recountOf(board);
      const winner = label === null ? null : (answerOf(board, label)?.agent ?? null);
      return [
        ...unless(
          event.label === label && event.winner === winner,
          `the winner is ${event.label}, a recount finds ${label}`,
        ),
        ...unless(
          areEqual(event.tally, tally),
          `the tally is ${JSON.stringify(event.tally)}, a recount finds ${JSON.stringify(tally)}`,
        ),
        ...unless(
          event.tie === tie,
          tie ? "a tie was not reported" : "a tie was reported but there is none",
        ),
      ];
    },
  }),
};

type Recount = { label: string | null; tally: Record<string, number>; tie: boolean };

/**
 * Counts the valid votes. If there are none, counts each agent's last vote, for answers that are
 * still the newest of their author. If there are none either, the winner is the answer of
 * `unvotedWinner`. If several answers have the most votes, the earliest answer wins.
 */
function recountOf(board: Board): Recount {
  const existing = newestAnswers(board);
  for (const ballot of ["vote", "lastVote"] as const) {
    const tally: Record<string, number> = {};
    for (const answer of existing) {
      const count = board.agents.filter((agent) => agent[ballot] === answer.revision).length;
      if (count > 0) tally[answer.label] = count;
    }
    const ranked = existing
      .filter(({ label }) => tally[label])
      .sort((a, b) => (tally[b.label] ?? 0) - (tally[a.label] ?? 0) || a.revision - b.revision);
    const [first, second] = ranked;
    if (first)
      return { label: first.label, tally, tie: tally[first.label] === tally[second?.label ?? ""] };
  }
  return { label: unvotedWinner(existing)?.label ?? null, tally: {}, tie: false };
}

/**
 * The winner without votes: the newest complete answer. If all answers are partial texts, the
 * longest answer wins; answers with files have priority. Of equally long answers, the first wins.
 */
function unvotedWinner(existing: readonly BoardAnswer[]): BoardAnswer | undefined {
  const complete = existing.filter(({ isPartial }) => !isPartial);
  if (complete.length > 0) return complete.at(-1);
  const withFiles = existing.filter(({ changedFiles }) => changedFiles);
  const candidates = withFiles.length > 0 ? withFiles : existing;
  const maxBytes = Math.max(...candidates.map(({ content }) => Buffer.byteLength(content)));
  return candidates.find(({ content }) => Buffer.byteLength(content) === maxBytes);
}

const areEqual = (a: Record<string, number>, b: Record<string, number>): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([label, count]) => b[label] === count);
