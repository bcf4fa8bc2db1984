import type { EventOf } from "../../../src/protocol/events";
import { adds, all, changes, hides, type Corruption, moves, withRules } from "./corruptions";
import type { Row } from "./row";

const IMPROVED = "improved-answer-with-injection";
const NUDGES = "refusals-and-nudges";
const MEGABYTE = 1024 * 1024;

/** Replaces the text of an agent's second answer. */
const rewritesSecondAnswer = (content: string): Corruption =>
  changes("answer.submitted", { content }, 4);

/** Adds a refusal of an agent's answer after the nth reply of the log. */
const addsRefusal = (code: string, nth: number): Corruption =>
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

/** Adds a `votes.cleared` event without votes. */
const ADDS_EMPTY_CLEARING = adds("votes.cleared", (event) => [{ ...event, votes: [] }]);

/** The label and the revision of an attempt's first answer. */
const FIRST = { label: "agent1.1", revision: 1 } as const;

/** Adds an answer of an agent after that agent has failed. */
const addsAnswerOfFailed = (change: Partial<EventOf<"answer.submitted">>): Corruption =>
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

/** Corruptions of answers: their authors, their number and their novelty. */
export const ANSWERING: readonly Row[] = [
  {
    name: "an answer of an unknown agent",
    corruption: changes("answer.submitted", { agent: "dora" }),
    invariant: "answers",
  },
  {
    name: "an answer after the end of its attempt",
    corruption: moves("answer.submitted", { nth: 3, before: "presentation.started" }),
    invariant: "answers",
  },
  {
    name: "an answer over the maximum length",
    corruption: changes("answer.submitted", { content: "a".repeat(131_073) }),
    invariant: "answers",
  },
  {
    name: "a partial text of an agent that has answered",
    script: IMPROVED,
    corruption: changes("answer.submitted", { origin: "partial" }, 4),
    invariant: "answers",
  },
  {
    name: "an answer of an agent that has failed",
    script: "agent-failing",
    corruption: addsAnswerOfFailed({}),
    invariant: "answers",
  },
  {
    name: "a partial text of an agent that has failed",
    script: "agent-failing",
    corruption: addsAnswerOfFailed({ origin: "partial" }),
    invariant: "leaving",
  },
  {
    name: "a partial text that was written before the attempt began",
    script: "restart-attempt",
    corruption: adds(
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
    corruption: changes("round.started", { purpose: "judgement" }),
    invariant: "answers",
  },
  {
    name: "an answer outside a round",
    corruption: hides("round.started"),
    invariant: "answers",
  },
  {
    name: "votes cleared by an older answer",
    script: IMPROVED,
    corruption: changes("votes.cleared", { by: "agent2.1" }),
    invariant: "voided",
  },
  {
    name: "an empty list of cleared votes",
    script: IMPROVED,
    corruption: ADDS_EMPTY_CLEARING,
    invariant: "voided",
  },
  {
    name: "a cleared vote for another answer",
    script: IMPROVED,
    corruption: changes("votes.cleared", { votes: [{ agent: "cleo", label: "agent3.1" }] }),
    invariant: "voided",
  },
  {
    name: "an answer beyond the team's limit",
    script: IMPROVED,
    corruption: withRules({ max_new_answers_global: 3 }),
    invariant: "limits",
  },
  {
    name: "a vote not forced once the team has all its answers",
    script: IMPROVED,
    corruption: withRules({ max_new_answers_global: 4 }),
    invariant: "offers",
  },
  {
    name: "an answer with too long a lead",
    script: IMPROVED,
    corruption: withRules({ fairness_lead_cap_answers: 0 }),
    invariant: "limits",
  },
  {
    name: "an answer offered at the maximum lead",
    script: IMPROVED,
    corruption: withRules({ fairness_lead_cap_answers: 1 }),
    invariant: "offers",
  },
  {
    name: "an answer beyond the total size of the team's answers",
    script: IMPROVED,
    corruption: changes("answer.submitted", { content: "a".repeat(8 * MEGABYTE - 28) }),
    invariant: "limits",
  },
  ...["answer_limit", "team_limit", "size_limit", "lead_limit"].map((code) => ({
    name: `a first answer refused with ${code}`,
    script: NUDGES,
    corruption: changes("answer.refused", { code }),
    invariant: "limits",
  })),
  {
    name: "an answer refused for the team's limit although the agent's own is reached",
    script: IMPROVED,
    corruption: all(addsRefusal("team_limit", 5), withRules({ max_new_answers_per_agent: 1 })),
    invariant: "limits",
  },
  {
    name: "an answer refused for the agent's limit although only the lead is too long",
    script: IMPROVED,
    corruption: all(addsRefusal("answer_limit", 5), withRules({ fairness_lead_cap_answers: 0 })),
    invariant: "limits",
  },
  {
    name: "an answer refused for its lead although the team's limit is reached",
    script: IMPROVED,
    corruption: all(addsRefusal("lead_limit", 5), withRules({ max_new_answers_global: 3 })),
    invariant: "limits",
  },
  {
    name: "an answer too close to another in a strict team",
    script: IMPROVED,
    corruption: all(
      withRules({ answer_novelty_requirement: "strict" }),
      rewritesSecondAnswer("Follow the river by the oak."),
    ),
    invariant: "novelty",
  },
  {
    name: "an answer too close to another in a balanced team",
    script: IMPROVED,
    corruption: all(
      withRules({ answer_novelty_requirement: "balanced" }),
      rewritesSecondAnswer("Follow the river: now!"),
    ),
    invariant: "novelty",
  },
  {
    name: "the same words as before in capitals, in a balanced team",
    script: IMPROVED,
    corruption: all(
      withRules({ answer_novelty_requirement: "balanced" }),
      rewritesSecondAnswer("TAKE - the  ROAD, 'take the road'!"),
    ),
    invariant: "novelty",
  },
  {
    name: "an answer with other white space",
    script: IMPROVED,
    corruption: rewritesSecondAnswer("\n Take\tthe road. "),
    invariant: "novelty",
  },
];
