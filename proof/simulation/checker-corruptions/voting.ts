import { adds, all, changes, hides, moves, repeats } from "./corruptions";
import type { Row } from "./row";

const IMPROVED = "improved-answer-with-injection";
const NUDGES = "refusals-and-nudges";

/** Corruptions of votes and of winners. */
export const VOTING: readonly Row[] = [
  {
    name: "a vote of an unknown agent",
    corruption: changes("vote.cast", { agent: "dora" }),
    invariant: "I5",
  },
  {
    name: "a vote after the end of its attempt",
    corruption: moves("vote.cast", { before: "presentation.started" }),
    invariant: "I5",
  },
  {
    name: "a vote of an agent that has failed",
    script: "agent-failing",
    corruption: adds("agent.failed", ({ at, turn, attempt, agent }) => [
      {
        type: "vote.cast",
        at,
        turn,
        attempt,
        agent,
        round: 1,
        tool_call: "v",
        label: "agent1.1",
        revision: 1,
        reason: "",
      },
    ]),
    invariant: "I5",
  },
  {
    name: "a vote in a judgement",
    corruption: changes("round.started", { purpose: "judgement" }, 4),
    invariant: "I5",
  },
  {
    name: "a vote for an answer that was replaced by a newer one",
    script: IMPROVED,
    corruption: changes("vote.cast", { label: "agent2.1", revision: 2 }, 2),
    invariant: "I5",
  },
  {
    name: "a vote with too long a reason",
    corruption: changes("vote.cast", { reason: "é".repeat(2_049) }),
    invariant: "I5",
  },
  {
    name: "a refused vote of an unknown agent",
    script: NUDGES,
    corruption: changes("vote.refused", { agent: "dora" }),
    invariant: "I5",
  },
  {
    name: "a refused vote of an agent whose vote is valid",
    script: NUDGES,
    corruption: all(
      repeats("vote.refused", 2),
      moves("vote.refused", { nth: 3, before: "attempt.settled" }),
    ),
    invariant: "I5",
  },
  {
    name: "a stale vote for an answer that does not exist",
    script: "stale-vote",
    corruption: changes("vote.stale", { label: "agent2.7" }),
    invariant: "I5",
  },
  {
    name: "a stale vote for an older answer",
    script: "stale-vote",
    corruption: changes("vote.stale", { label: "agent2.1" }),
    invariant: "I5",
  },
  {
    name: "a stale vote of an agent that had seen everything",
    script: "stale-vote",
    corruption: moves("answers.injected", { before: "vote.stale" }),
    invariant: "I5",
  },
  {
    name: "a stale vote with too many missing answers",
    script: "stale-vote",
    corruption: changes("vote.stale", { missing: ["agent2.2", "agent1.1"] }),
    invariant: "I5",
  },
  {
    name: "a reported tie without equal votes",
    corruption: changes("attempt.settled", { tie: true }),
    invariant: "I5-winner",
  },
  {
    name: "a tally with an answer too many",
    corruption: changes("attempt.settled", { tally: { "agent2.1": 3, "agent1.1": 0 } }),
    invariant: "I5-winner",
  },
  {
    name: "a tally of another answer",
    corruption: changes("attempt.settled", { tally: { "agent1.1": 3 } }),
    invariant: "I5-winner",
  },
  {
    name: "the winning agent with another answer",
    corruption: changes("attempt.settled", { label: "agent1.1" }),
    invariant: "I5-winner",
  },
  {
    name: "the winning answer with another agent",
    corruption: changes("attempt.settled", { winner: "cleo" }),
    invariant: "I5-winner",
  },
  {
    name: "skipped coordination although another agent presents",
    script: "single-agent",
    corruption: changes("attempt.settled", { winner: "bela" }),
    invariant: "I5-winner",
  },
  {
    name: "skipped coordination with a winning answer",
    script: "single-agent",
    corruption: changes("attempt.settled", { label: "agent1.1" }),
    invariant: "I5-winner",
  },
  {
    name: "a winner by cleared votes, with another winner logged",
    script: "deadline",
    corruption: all(hides("vote.cast"), changes("attempt.settled", { tally: {} })),
    invariant: "I5-winner",
  },
  {
    name: "a winner with one vote against two",
    corruption: all(
      changes("vote.cast", { label: "agent1.1", revision: 1 }),
      changes("attempt.settled", {
        winner: "ada",
        label: "agent1.1",
        tally: { "agent1.1": 1, "agent2.1": 2 },
      }),
    ),
    invariant: "I5-winner",
  },
];
