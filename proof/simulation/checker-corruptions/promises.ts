import {
  adds,
  all,
  changes,
  echoesAtEnd,
  hides,
  type Corruption,
  moves,
  repeats,
} from "./corruptions";
import type { Row } from "./row";

/** Fields of an event with which a tool server requires input from the user. */
const INPUT_REQUIRED = {
  type: "tool.input_required" as const,
  origin: "https://far.example.com",
  requests: [],
};

/** Adds `times` progress notifications of a running tool. */
function reportsProgress(times: number, everyMs: number): Corruption {
  return adds("tool.started", (event) =>
    Array.from({ length: times }, (_, nth) => ({
      ...event,
      ...PROGRESS,
      at: event.at + nth * everyMs,
    })),
  );
}

const PROGRESS = {
  type: "tool.progressed",
  origin: INPUT_REQUIRED.origin,
  progress: 1,
  total: null,
  message: null,
} as const;
/** Adds a progress notification after the end of its tool. */
const REPORTS_LATE = adds("tool.completed", ({ outcome: _, ...event }) => [
  { ...event, ...PROGRESS },
]);

/** Corruptions of whole turns that violate an invariant from I2 to I22 or a rule of tools. */
export const PROMISES: readonly Row[] = [
  {
    name: "a gap in the numbers",
    corruption: (log) => log.filter(({ type }) => type !== "vote.cast"),
    invariant: "I2",
  },
  { name: "time that decreases", corruption: changes("vote.cast", { at: 1 }), invariant: "I2" },
  {
    name: "two agents with one alias",
    corruption: changes("turn.started", {
      aliases: { ada: "agent1", bela: "agent1", cleo: "agent3" },
    }),
    invariant: "I2",
  },
  { name: "a second final text", corruption: repeats("presentation.completed"), invariant: "I3" },
  {
    name: "an answer that is not the final text",
    corruption: changes("turn.completed", { answer: "Something else." }),
    invariant: "I3",
  },
  {
    name: "another reason than the attempt ended for",
    corruption: changes("turn.completed", { finish_reason: "deadline" }),
    invariant: "I3",
  },
  {
    name: "a completed turn without a final text",
    corruption: hides("presentation.completed"),
    invariant: "I3",
  },
  { name: "an event after the end", corruption: echoesAtEnd("vote.cast"), invariant: "I4" },
  { name: "two ends", corruption: repeats("turn.completed"), invariant: "I4" },
  { name: "no end", corruption: hides("turn.completed"), invariant: "I4" },
  {
    name: "a vote for an answer that does not exist",
    corruption: changes("vote.cast", { label: "agent2.7" }),
    invariant: "I5",
  },
  {
    name: "a vote before the voter saw the answers",
    corruption: moves("vote.cast", { before: "round.started", beforeNth: 4 }),
    invariant: "I5",
  },
  {
    name: "a vote that names another revision",
    corruption: changes("vote.cast", { revision: 1 }),
    invariant: "I5",
  },
  { name: "two votes of one agent", corruption: repeats("vote.cast"), invariant: "I5" },
  {
    name: "a stale vote that counts",
    script: "stale-vote",
    corruption: hides("answers.injected"),
    invariant: "I5",
  },
  {
    name: "a stale vote that hides what was missing",
    script: "stale-vote",
    corruption: changes("vote.stale", { missing: [] }),
    invariant: "I5",
  },
  {
    name: "another winner",
    corruption: changes("attempt.settled", { winner: "ada", label: "agent1.1" }),
    invariant: "I5-winner",
  },
  {
    name: "a tally with a vote too many",
    corruption: changes("attempt.settled", { tally: { "agent2.1": 4 } }),
    invariant: "I5-winner",
  },
  {
    name: "a tie that goes to the later answer",
    script: "tie",
    corruption: changes("attempt.settled", { winner: "bela", label: "agent2.1" }),
    invariant: "I5-winner",
  },
  {
    name: "an unreported tie",
    script: "tie",
    corruption: changes("attempt.settled", { tie: false }),
    invariant: "I5-winner",
  },
  { name: "consensus before the last vote", corruption: hides("vote.cast", 3), invariant: "I6" },
  {
    name: "a deadline that is not reached",
    corruption: changes("attempt.settled", { ended_by: "deadline" }),
    invariant: "I6",
  },
  {
    name: "an end by budget although no call waits for it",
    corruption: changes("attempt.settled", { ended_by: "budget" }),
    invariant: "I6",
  },
  {
    name: "an answer shown to an agent without one",
    corruption: changes("round.started", { labels: ["agent1.1"] }),
    invariant: "I22",
  },
  {
    name: "a first round restarted because of another's answer",
    corruption: all(
      repeats("round.started", 3),
      moves("round.started", { nth: 4, before: "call.completed", beforeNth: 2 }),
    ),
    invariant: "I7",
  },
  {
    name: "a first round that is cut but continues",
    script: "agent-failing",
    corruption: changes("call.failed", { class: "cancelled" }, 2),
    invariant: "I7",
  },
  {
    name: "a first round that fails because of another agent",
    script: "nobody-answers",
    corruption: moves("round.failed", { nth: 2, before: "call.failed", beforeNth: 3 }),
    invariant: "I7",
  },
  {
    name: "a reservation beyond the cap",
    script: "budget",
    corruption: changes("call.started", { reserved: { tokens: 90_000, cost_usd: 0 } }),
    invariant: "I11",
  },
  {
    name: "a charge beyond the reservation",
    corruption: changes("call.completed", { cost_usd: 7 }),
    invariant: "I11",
  },
  { name: "a call that never ended", corruption: hides("call.completed", 6), invariant: "I12" },
  { name: "a call started twice", corruption: repeats("call.started"), invariant: "I12" },
  {
    name: "a call that ends without a start",
    corruption: hides("call.started", 3),
    invariant: "I12",
  },
  {
    name: "a call after a vote",
    corruption: all(
      repeats("call.started", 4),
      moves("call.started", { nth: 5, before: "vote.cast", beforeNth: 3 }),
    ),
    invariant: "I12",
  },
  {
    name: "an unexpected tool result",
    script: "single-agent",
    corruption: repeats("tool.completed"),
    invariant: "tools",
  },
  {
    name: "a tool that succeeds without having run",
    script: "single-agent",
    corruption: hides("tool.started"),
    invariant: "tools",
  },
  {
    name: "a tool only planned outside of planning",
    script: "single-agent",
    corruption: changes("tool.completed", { outcome: "planned" }),
    invariant: "tools",
  },
  {
    name: "a tool that reports progress without running",
    script: "single-agent",
    corruption: REPORTS_LATE,
    invariant: "news",
  },
  {
    name: "a tool that reports progress twice in a second",
    script: "single-agent",
    corruption: reportsProgress(2, 999),
    invariant: "news",
  },
  {
    name: "a tool that reports progress too often",
    script: "single-agent",
    corruption: reportsProgress(21, 1_000),
    invariant: "news",
  },
  {
    name: "a server that requires input too often",
    script: "single-agent",
    corruption: adds("tool.started", (event) =>
      Array.from({ length: 4 }, () => ({ ...event, ...INPUT_REQUIRED })),
    ),
    invariant: "news",
  },
  {
    name: "a cancelled attempt whose turn continues",
    script: "cancel",
    corruption: hides("turn.cancelled"),
    invariant: "I15",
  },
  {
    name: "a cancelled turn that lost its winner",
    script: "cancel",
    corruption: changes("turn.cancelled", { partial: { winner: null, answer: null, text: null } }),
    invariant: "I15",
  },
];
