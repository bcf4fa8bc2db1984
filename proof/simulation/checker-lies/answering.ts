import type { EventOf } from "../../../src/protocol/events";
import {
  adds,
  all,
  changes,
  hides,
  type Lie,
  membered,
  moves,
  repeats,
  ruled,
} from "../../../checker/lies";
import type { Row } from "./row";

const IMPROVED = "improved-answer-with-injection";
const NUDGES = "refusals-and-nudges";
const MEGABYTE = 1024 * 1024;

/** The second answer of an agent, as if it had written something else. */
const rewritten = (content: string): Lie => changes("answer.submitted", { content }, 4);

/** As if an agent's answer had been refused, after its nth reply of the log. */
const refuses = (code: string, nth: number): Lie =>
  adds(
    "call.completed",
    ({ at, turn, attempt, agent, round }) => [
      {
        type: "answer.refused",
        at,
        turn,
        attempt,
        agent,
        round,
        tool_call: "c",
        code,
        message: "",
      },
    ],
    nth,
  );

const CLEARED = adds("votes.cleared", (event) => [{ ...event, votes: [] }]);

const FIRST = { label: "agent1.1", revision: 1 } as const;

const answersOnceMore = (change: Partial<EventOf<"answer.submitted">>): Lie =>
  adds("agent.failed", ({ at, turn, attempt, agent }) => [
    {
      type: "answer.submitted",
      at,
      turn,
      attempt,
      agent,
      label: "agent3.1",
      revision: 1,
      content: "Wait.",
      origin: "tool",
      snapshot: null,
      ...change,
    },
  ]);

/** Lies about what was answered, voted for, and shown. */
export const ANSWERING: readonly Row[] = [
  {
    name: "an answer of a stranger",
    lie: changes("answer.submitted", { agent: "dora" }),
    invariant: "answers",
  },
  {
    name: "an answer after the end of its attempt",
    lie: moves("answer.submitted", { nth: 3, before: "presentation.started" }),
    invariant: "answers",
  },
  {
    name: "an answer too long for anybody",
    lie: changes("answer.submitted", { content: "a".repeat(131_073) }),
    invariant: "answers",
  },
  {
    name: "a partial text of somebody who has answered",
    story: IMPROVED,
    lie: changes("answer.submitted", { origin: "partial" }, 4),
    invariant: "answers",
  },
  {
    name: "an answer of an agent that has failed",
    story: "agent-failing",
    lie: answersOnceMore({}),
    invariant: "answers",
  },
  {
    name: "a partial text of an agent that has failed",
    story: "agent-failing",
    lie: answersOnceMore({ origin: "partial" }),
    invariant: "leaving",
  },
  {
    name: "a partial text that was written before the attempt began",
    story: "restart-attempt",
    lie: adds(
      "attempt.started",
      ({ at, turn, attempt }) => [
        {
          type: "answer.submitted",
          at,
          turn,
          attempt,
          agent: "ada",
          ...FIRST,
          content: "Go.",
          origin: "partial",
          snapshot: null,
        },
      ],
      2,
    ),
    invariant: "leaving",
  },
  {
    name: "an answer in a judgement",
    lie: changes("round.started", { purpose: "judgement" }),
    invariant: "answers",
  },
  {
    name: "an answer that nobody began to work on",
    lie: hides("round.started"),
    invariant: "answers",
  },
  {
    name: "votes that an older answer voided",
    story: IMPROVED,
    lie: changes("votes.cleared", { by: "agent2.1" }),
    invariant: "voided",
  },
  { name: "a list of no voided votes", story: IMPROVED, lie: CLEARED, invariant: "voided" },
  {
    name: "a voided vote for another answer",
    story: IMPROVED,
    lie: changes("votes.cleared", { votes: [{ agent: "cleo", label: "agent3.1" }] }),
    invariant: "voided",
  },
  {
    name: "an answer beyond the team's limit",
    story: IMPROVED,
    lie: ruled({ max_new_answers_global: 3 }),
    invariant: "limits",
  },
  {
    name: "votes only, once the team has all its answers",
    story: IMPROVED,
    lie: ruled({ max_new_answers_global: 4 }),
    invariant: "offers",
  },
  {
    name: "an answer with too long a lead",
    story: IMPROVED,
    lie: ruled({ fairness_lead_cap_answers: 0 }),
    invariant: "limits",
  },
  {
    name: "no more than the lead that is allowed",
    story: IMPROVED,
    lie: ruled({ fairness_lead_cap_answers: 1 }),
    invariant: "offers",
  },
  {
    name: "an answer when the team's answers are too long",
    story: IMPROVED,
    lie: changes("answer.submitted", { content: "a".repeat(8 * MEGABYTE - 28) }),
    invariant: "limits",
  },
  ...["answer_limit", "team_limit", "size_limit", "lead_limit"].map((code) => ({
    name: `a first answer refused with ${code}`,
    story: NUDGES,
    lie: changes("answer.refused", { code }),
    invariant: "limits",
  })),
  {
    name: "an answer refused for the team's limit where its own is reached",
    story: IMPROVED,
    lie: all(refuses("team_limit", 5), ruled({ max_new_answers_per_agent: 1 })),
    invariant: "limits",
  },
  {
    name: "an answer refused for its own limit where only the lead is too long",
    story: IMPROVED,
    lie: all(refuses("answer_limit", 5), ruled({ fairness_lead_cap_answers: 0 })),
    invariant: "limits",
  },
  {
    name: "an answer refused for its lead where the team has enough",
    story: IMPROVED,
    lie: all(refuses("lead_limit", 5), ruled({ max_new_answers_global: 3 })),
    invariant: "limits",
  },
  {
    name: "an answer too close to another in a strict team",
    story: IMPROVED,
    lie: all(
      ruled({ answer_novelty_requirement: "strict" }),
      rewritten("Follow the river by the oak."),
    ),
    invariant: "novelty",
  },
  {
    name: "an answer too close to another in a balanced team",
    story: IMPROVED,
    lie: all(
      ruled({ answer_novelty_requirement: "balanced" }),
      rewritten("Follow the river: now!"),
    ),
    invariant: "novelty",
  },
  {
    name: "the same words as before in capitals, in a balanced team",
    story: IMPROVED,
    lie: all(
      ruled({ answer_novelty_requirement: "balanced" }),
      rewritten("TAKE - the  ROAD, 'take the road'!"),
    ),
    invariant: "novelty",
  },
  {
    name: "an answer with other blanks",
    story: IMPROVED,
    lie: rewritten("\n Take\tthe road. "),
    invariant: "novelty",
  },
  { name: "a vote of a stranger", lie: changes("vote.cast", { agent: "dora" }), invariant: "I5" },
  {
    name: "a vote after the end of its attempt",
    lie: moves("vote.cast", { before: "presentation.started" }),
    invariant: "I5",
  },
  {
    name: "a vote of an agent that has failed",
    story: "agent-failing",
    lie: adds("agent.failed", ({ at, turn, attempt, agent }) => [
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
    lie: changes("round.started", { purpose: "judgement" }, 4),
    invariant: "I5",
  },
  {
    name: "a vote for an answer that was improved on",
    story: IMPROVED,
    lie: changes("vote.cast", { label: "agent2.1", revision: 2 }, 2),
    invariant: "I5",
  },
  {
    name: "a vote with too long a reason",
    lie: changes("vote.cast", { reason: "é".repeat(2_049) }),
    invariant: "I5",
  },
  {
    name: "a refused vote of a stranger",
    story: NUDGES,
    lie: changes("vote.refused", { agent: "dora" }),
    invariant: "I5",
  },
  {
    name: "a refused vote of an agent whose vote is valid",
    story: NUDGES,
    lie: all(
      repeats("vote.refused", 2),
      moves("vote.refused", { nth: 3, before: "attempt.settled" }),
    ),
    invariant: "I5",
  },
  {
    name: "a stale vote for nobody's answer",
    story: "stale-vote",
    lie: changes("vote.stale", { label: "agent2.7" }),
    invariant: "I5",
  },
  {
    name: "a stale vote for an older answer",
    story: "stale-vote",
    lie: changes("vote.stale", { label: "agent2.1" }),
    invariant: "I5",
  },
  {
    name: "a stale vote of somebody who had seen everything",
    story: "stale-vote",
    lie: moves("answers.injected", { before: "vote.stale" }),
    invariant: "I5",
  },
  {
    name: "a stale vote that misses more than there is",
    story: "stale-vote",
    lie: changes("vote.stale", { missing: ["agent2.2", "agent1.1"] }),
    invariant: "I5",
  },
  {
    name: "a tie where there is none",
    lie: changes("attempt.settled", { tie: true }),
    invariant: "I5-winner",
  },
  {
    name: "a tally with an answer too many",
    lie: changes("attempt.settled", { tally: { "agent2.1": 3, "agent1.1": 0 } }),
    invariant: "I5-winner",
  },
  {
    name: "a tally of another answer",
    lie: changes("attempt.settled", { tally: { "agent1.1": 3 } }),
    invariant: "I5-winner",
  },
  {
    name: "the winner's agent under another answer",
    lie: changes("attempt.settled", { label: "agent1.1" }),
    invariant: "I5-winner",
  },
  {
    name: "the winning answer under another agent",
    lie: changes("attempt.settled", { winner: "cleo" }),
    invariant: "I5-winner",
  },
  {
    name: "skipped, and another agent presents",
    story: "single-agent",
    lie: changes("attempt.settled", { winner: "bela" }),
    invariant: "I5-winner",
  },
  {
    name: "skipped, and an answer has won",
    story: "single-agent",
    lie: changes("attempt.settled", { label: "agent1.1" }),
    invariant: "I5-winner",
  },
  {
    name: "a winner by votes that were voided, and another winner told",
    story: "deadline",
    lie: all(hides("vote.cast"), changes("attempt.settled", { tally: {} })),
    invariant: "I5-winner",
  },
  {
    name: "two votes against one, and the one has won",
    lie: all(
      changes("vote.cast", { label: "agent1.1", revision: 1 }),
      changes("attempt.settled", {
        winner: "ada",
        label: "agent1.1",
        tally: { "agent1.1": 1, "agent2.1": 2 },
      }),
    ),
    invariant: "I5-winner",
  },
  {
    name: "an update for somebody without an answer",
    story: "cut-off-tools",
    lie: adds("tool.interrupted", injectsNothing),
    invariant: "I22",
  },
  {
    name: "an update without news",
    story: IMPROVED,
    lie: changes("answers.injected", { labels: [] }),
    invariant: "injections",
  },
  {
    name: "an update in another round",
    story: IMPROVED,
    lie: changes("answers.injected", { round: 7 }),
    invariant: "injections",
  },
  {
    name: "an update while its agent is called",
    story: IMPROVED,
    lie: moves("answers.injected", { nth: 2, before: "call.completed", beforeNth: 9 }),
    invariant: "injections",
  },
  {
    name: "an update while its agent's tool runs",
    story: IMPROVED,
    lie: moves("answers.injected", { nth: 2, before: "tool.completed" }),
    invariant: "injections",
  },
  {
    name: "an update with a tool result where none may come so",
    story: IMPROVED,
    lie: ruled({ max_midstream_injections_per_round: 0 }),
    invariant: "injections",
  },
  {
    name: "an update while its agent works, where agents work undisturbed",
    story: IMPROVED,
    lie: ruled({ disable_injection: true }),
    invariant: "injections",
  },
  {
    name: "more updates with tool results than may come",
    story: IMPROVED,
    lie: all(ruled({ max_midstream_injections_per_round: 1 }), repeats("answers.injected", 2)),
    invariant: "injections",
  },
  {
    name: "a message that reopens nothing",
    story: "stale-vote",
    lie: changes("answers.injected", { via: "reopened" }),
    invariant: "injections",
  },
  {
    name: "an update with a tool result before any reply",
    story: IMPROVED,
    lie: all(hides("call.completed", 5), changes("answers.injected", { via: "tool_result" }, 2)),
    invariant: "injections",
  },
  {
    name: "a reopened round told as a message",
    story: IMPROVED,
    lie: changes("answers.injected", { via: "message" }),
    invariant: "injections",
  },
  {
    name: "a round that shows an answer twice",
    lie: changes("round.started", { labels: ["agent1.1", "agent1.1", "agent2.1", "agent3.1"] }, 4),
    invariant: "shown",
  },
  {
    name: "a judge who is shown answers",
    story: "restart-attempt",
    lie: changes("round.started", { labels: ["agent1.1"] }, 5),
    invariant: "shown",
  },
  {
    name: "a round for a stranger",
    lie: changes("round.started", { agent: "dora" }, 4),
    invariant: "rounds",
  },
  {
    name: "votes that wait until everybody has answered, and do not",
    story: "deadline",
    lie: ruled({ defer_voting_until_all_answered: true }),
    invariant: "waiting",
  },
  {
    name: "a vote offered at the limit on answers",
    lie: ruled({ max_new_answers_per_agent: 1 }),
    invariant: "offers",
  },
  {
    name: "a decision forced where nobody can",
    story: NUDGES,
    lie: membered({ forces_tools: false }),
    invariant: "offers",
  },
  {
    name: "a nudged agent that need not decide",
    story: NUDGES,
    lie: changes("call.started", { forced: false }, 3),
    invariant: "offers",
  },
  {
    name: "a presenter that is offered a vote",
    lie: changes("call.started", { offers: ["vote"] }, 7),
    invariant: "offers",
  },
  {
    name: "a judge without a verdict to give",
    story: "restart-attempt",
    lie: changes("call.started", { offers: ["submit"] }, 6),
    invariant: "offers",
  },
  {
    name: "personas by somebody who cannot assign them",
    story: "personas",
    lie: changes("call.started", { offers: [] }),
    invariant: "offers",
  },
];

function injectsNothing({
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
