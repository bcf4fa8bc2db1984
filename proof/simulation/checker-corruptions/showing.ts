import type { EventOf } from "../../../src/protocol/events";
import {
  adds,
  all,
  changes,
  hides,
  withAgentRules,
  moves,
  repeats,
  withRules,
} from "./corruptions";
import type { Row } from "./row";

const IMPROVED = "improved-answer-with-injection";
const NUDGES = "refusals-and-nudges";

/** Corruptions of the answers that agents are shown, and of the decisions that calls offer. */
export const SHOWING: readonly Row[] = [
  {
    name: "an update for an agent without an answer",
    script: "cut-off-tools",
    corruption: adds("tool.interrupted", emptyInjection),
    invariant: "I22",
  },
  {
    name: "an update without new answers",
    script: IMPROVED,
    corruption: changes("answers.injected", { labels: [] }),
    invariant: "injections",
  },
  {
    name: "an update in another round",
    script: IMPROVED,
    corruption: changes("answers.injected", { round: 7 }),
    invariant: "injections",
  },
  {
    name: "an update during a call of its agent",
    script: IMPROVED,
    corruption: moves("answers.injected", { nth: 2, before: "call.completed", beforeNth: 9 }),
    invariant: "injections",
  },
  {
    name: "an update during a tool call of its agent",
    script: IMPROVED,
    corruption: moves("answers.injected", { nth: 2, before: "tool.completed" }),
    invariant: "injections",
  },
  {
    name: "an update with a tool result although none is allowed",
    script: IMPROVED,
    corruption: withRules({ max_midstream_injections_per_round: 0 }),
    invariant: "injections",
  },
  {
    name: "an update of a working agent although injections are disabled",
    script: IMPROVED,
    corruption: withRules({ disable_injection: true }),
    invariant: "injections",
  },
  {
    name: "more updates with tool results than allowed",
    script: IMPROVED,
    corruption: all(
      withRules({ max_midstream_injections_per_round: 1 }),
      repeats("answers.injected", 2),
    ),
    invariant: "injections",
  },
  {
    name: "a message that reopens nothing",
    script: "stale-vote",
    corruption: changes("answers.injected", { via: "reopened" }),
    invariant: "injections",
  },
  {
    name: "an update with a tool result before any reply",
    script: IMPROVED,
    corruption: all(
      hides("call.completed", 5),
      changes("answers.injected", { via: "tool_result" }, 2),
    ),
    invariant: "injections",
  },
  {
    name: "a reopened round logged as a message",
    script: IMPROVED,
    corruption: changes("answers.injected", { via: "message" }),
    invariant: "injections",
  },
  {
    name: "a round that shows an answer twice",
    corruption: changes(
      "round.started",
      { labels: ["agent1.1", "agent1.1", "agent2.1", "agent3.1"] },
      4,
    ),
    invariant: "shown",
  },
  {
    name: "a judge that is shown answers",
    script: "restart-attempt",
    corruption: changes("round.started", { labels: ["agent1.1"] }, 5),
    invariant: "shown",
  },
  {
    name: "a round of an unknown agent",
    corruption: changes("round.started", { agent: "dora" }, 4),
    invariant: "rounds",
  },
  {
    name: "votes before every agent has answered although voting is deferred",
    script: "deadline",
    corruption: withRules({ defer_voting_until_all_answered: true }),
    invariant: "waiting",
  },
  {
    name: "a vote offered at the limit on answers",
    corruption: withRules({ max_new_answers_per_agent: 1 }),
    invariant: "offers",
  },
  {
    name: "a decision forced although the provider cannot",
    script: NUDGES,
    corruption: withAgentRules({ forces_tools: false }),
    invariant: "offers",
  },
  {
    name: "a nudged agent without a forced decision",
    script: NUDGES,
    corruption: changes("call.started", { forced: false }, 3),
    invariant: "offers",
  },
  {
    name: "a presenter that is offered a vote",
    corruption: changes("call.started", { offers: ["vote"] }, 7),
    invariant: "offers",
  },
  {
    name: "a judge without a choice of verdicts",
    script: "restart-attempt",
    corruption: changes("call.started", { offers: ["submit"] }, 6),
    invariant: "offers",
  },
  {
    name: "personas by an agent that cannot assign them",
    script: "personas",
    corruption: changes("call.started", { offers: [] }),
    invariant: "offers",
  },
];

/** An injection of no answers in the same round. */
function emptyInjection({
  at,
  turn,
  attempt,
  agent,
  round,
}: EventOf<"tool.interrupted">): EventOf<"answers.injected">[] {
  return [
    { type: "answers.injected", at, turn, attempt, agent, round, labels: [], via: "tool_result" },
  ];
}
