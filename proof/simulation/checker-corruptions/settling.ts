import type { EventOf } from "../../../src/protocol/events";
import { adds, all, changes, delays, hides, moves, repeats } from "./corruptions";
import type { Row } from "./row";

const FAILING = "agent-failing";
const NO_ANSWERS = "nobody-answers";
const START = 1_790_000_000_000;

/** Corruptions of the end of coordination and of the start of rounds. */
export const SETTLING: readonly Row[] = [
  { name: "an attempt settled twice", corruption: repeats("attempt.settled"), invariant: "I6" },
  {
    name: "an attempt settled with a call in flight",
    script: "deadline",
    corruption: hides("call.failed", 2),
    invariant: "I6",
  },
  {
    name: "an attempt settled with a tool running",
    script: "improved-answer-with-injection",
    corruption: hides("tool.completed"),
    invariant: "I6",
  },
  {
    name: "no agents although one is live",
    script: NO_ANSWERS,
    corruption: hides("agent.failed", 2),
    invariant: "I6",
  },
  {
    name: "consensus without agents",
    script: NO_ANSWERS,
    corruption: changes("attempt.settled", { ended_by: "consensus" }),
    invariant: "I6",
  },
  {
    name: "coordination skipped by a team that coordinates",
    corruption: changes("attempt.settled", { ended_by: "skipped" }),
    invariant: "I6",
  },
  {
    name: "a deadline one millisecond too early",
    script: "deadline",
    corruption: changes("attempt.settled", { at: START + 15_999 }),
    invariant: "I6",
  },
  {
    name: "a round started although every agent has voted",
    corruption: all(
      repeats("round.started", 4),
      moves("round.started", { nth: 5, before: "attempt.settled" }),
    ),
    invariant: "I6",
  },
  {
    name: "a call started although no agent is live",
    script: NO_ANSWERS,
    corruption: all(
      repeats("call.started", 4),
      moves("call.started", { nth: 5, before: "attempt.settled" }),
    ),
    invariant: "I6",
  },
  {
    name: "calls after coordination's time",
    corruption: changes("turn.started", { deadline_at: START + 1_502.5 }),
    invariant: "I6",
  },
  {
    name: "calls in the last two minutes of a long turn",
    corruption: delays("round.started", 1_678_798, 4),
    invariant: "I6",
  },
  {
    name: "answers awaited for less than a quarter of a second",
    script: "deadline",
    corruption: delays("round.started", -1, 4),
    invariant: "waiting",
  },
  {
    name: "an agent that waits longer than the grace time",
    script: "deadline",
    corruption: moves("round.started", { nth: 5, before: "attempt.settled", beforeNth: 1 }),
    invariant: "waiting",
  },
  {
    name: "answers awaited for less than a tenth of the time",
    script: "deadline",
    corruption: all(delays("call.completed", 9_000), delays("round.started", 759, 4)),
    invariant: "waiting",
  },
  {
    name: "answers awaited for a tenth of the time, but beyond the turn's",
    script: "deadline",
    corruption: all(
      delays("call.completed", 9_000),
      delays("round.started", 761, 4),
      changes("vote.cast", { revision: 2 }),
    ),
    invariant: "I5",
  },
  {
    name: "answers awaited for less than five seconds",
    script: "deadline",
    corruption: all(
      changes("turn.started", { deadline_at: START + 999_000 }),
      delays("call.completed", 99_000),
      delays("round.started", 4_749, 4),
    ),
    invariant: "waiting",
  },
  {
    name: "answers awaited for five seconds, and a deadline that has not come",
    script: "deadline",
    corruption: all(
      changes("turn.started", { deadline_at: START + 999_000 }),
      delays("call.completed", 99_000),
      delays("round.started", 4_750, 4),
    ),
    invariant: "I6",
  },
  {
    name: "a first round with another cause",
    corruption: changes("round.started", { cause: "answered" }),
    invariant: "I7",
  },
  {
    name: "a first round restarted as if its context were full",
    corruption: all(
      repeats("round.started", 3),
      changes("round.started", { cause: "context_full", round: 2 }, 4),
    ),
    invariant: "I7",
  },
  {
    name: "a first round cut without an end",
    script: "deadline",
    corruption: delays("call.failed", 1, 2),
    invariant: "I7",
  },
  {
    name: "a missing nudge",
    script: "refusals-and-nudges",
    corruption: hides("round.nudged"),
    invariant: "rounds",
  },
  {
    name: "a fourth nudge",
    script: "refusals-and-nudges",
    corruption: changes("round.nudged", { nudge: 4 }),
    invariant: "rounds",
  },
  {
    name: "a round of an agent that has dropped out",
    script: FAILING,
    corruption: adds("agent.failed", ({ at, turn, attempt, agent }) => [
      {
        type: "round.started",
        at,
        turn,
        attempt,
        agent,
        round: 2,
        purpose: "coordination",
        labels: [],
        cause: "failed",
        workspace: null,
      },
    ]),
    invariant: "rounds",
  },
  {
    name: "a 21st round",
    corruption: adds("round.started", furtherRounds(20), 3),
    invariant: "rounds",
  },
  {
    name: "20 rounds, all at the same time",
    corruption: adds("round.started", furtherRounds(19), 3),
    invariant: "I7",
  },
];

/** Returns `count` further rounds of the same agent, each after a failed round. */
function furtherRounds(count: number) {
  return (event: EventOf<"round.started">): EventOf<"round.started">[] =>
    Array.from({ length: count }, (_, nth) => ({
      ...event,
      cause: "failed",
      round: event.round + nth + 1,
    }));
}
