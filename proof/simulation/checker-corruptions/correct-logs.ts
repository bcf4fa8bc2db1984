import type { Outside } from "../../../checker";
import {
  all,
  changes,
  delays,
  type Corruption,
  moves,
  repeats,
  rewrites,
  withRules,
} from "./corruptions";
import { AT_THE_CAP } from "./paying";
import { CORRECT_QUEUES } from "./queueing";
import { CORRECT_REPLACEMENTS } from "./replacing";
import { repeatsTurnAs } from "./second-turn";
import { CORRECT_TEAMS } from "./teams";

/**
 * A log that is changed but still correct, because it stays just within the rules. The checker must
 * report nothing. The fields are those of `Row`.
 */
type CorrectLog = {
  name: string;
  script?: string;
  corruption: Corruption;
  outside?: Outside;
};

const IMPROVED = "improved-answer-with-injection";
const START = 1_790_000_000_000;

/** Sets the team's required novelty and replaces the text of the second answer of an agent. */
const withNovelty = (
  answer_novelty_requirement: "lenient" | "balanced" | "strict",
  content: string,
): Corruption =>
  all(withRules({ answer_novelty_requirement }), changes("answer.submitted", { content }, 4));

export const CORRECT_LOGS: readonly CorrectLog[] = [
  ...AT_THE_CAP,
  ...CORRECT_REPLACEMENTS,
  ...CORRECT_TEAMS,
  ...CORRECT_QUEUES,
  {
    name: "an answer of 128 KB",
    corruption: changes("answer.submitted", { content: "é".repeat(65_536) }),
  },
  { name: "a reason of 4 KB", corruption: changes("vote.cast", { reason: "é".repeat(2_048) }) },
  {
    name: "a first answer that another agent also gave",
    script: "tie",
    corruption: changes("answer.submitted", { content: "Go by the river." }, 2),
  },
  {
    name: "half of another answer's words in a strict team",
    script: IMPROVED,
    corruption: withNovelty("strict", "Follow the river by two oaks."),
  },
  {
    name: "most of another answer's words in a balanced team",
    script: IMPROVED,
    corruption: withNovelty("balanced", "Follow the river twice, then."),
  },
  {
    name: "another answer's words in a lenient team",
    script: IMPROVED,
    corruption: withNovelty("lenient", "Follow: the RIVER!"),
  },
  {
    name: "answers without any words in a strict team",
    script: IMPROVED,
    corruption: all(changes("answer.submitted", { content: "?" }), withNovelty("strict", "!")),
  },
  {
    name: "an answer within the team's limit",
    script: IMPROVED,
    corruption: withRules({ max_new_answers_global: 5 }),
  },
  {
    name: "an answer with a lead that is allowed",
    script: IMPROVED,
    corruption: withRules({ fairness_lead_cap_answers: 3 }),
  },
  {
    name: "a lead without a limit",
    script: IMPROVED,
    corruption: withRules({ fairness_lead_cap_answers: null }),
  },
  { name: "votes at the last possible moment", corruption: delays("round.started", 1_678_797, 4) },
  {
    name: "late deltas",
    script: "deadline",
    corruption: changes("stream.delta", { at: START + 900 }),
  },
  {
    name: "early deltas",
    script: "single-agent",
    corruption: changes("stream.delta", { at: 5 }),
  },
  {
    name: "a delta between a search and the end of its call",
    script: "hosted-tools",
    corruption: (log) =>
      log
        .toSpliced(8, 0, {
          type: "stream.delta",
          at: START,
          turn: 1,
          items: [],
          sequence_number: 0,
        })
        .map((event, place) => ({ ...event, sequence_number: place + 1 })),
  },
  {
    name: "other aliases",
    corruption: changes("turn.started", {
      aliases: { ada: "agent3", bela: "agent1", cleo: "agent2" },
    }),
  },
  {
    name: "answers shown in another order",
    corruption: changes("round.started", { labels: ["agent3.1", "agent2.1", "agent1.1"] }, 4),
  },
  {
    name: "a retry after a minute, as its provider asked",
    script: "agent-failing",
    corruption: all(
      changes("call.failed", { retry_at: START + 61_101 }, 2),
      delays("call.started", 59_897, 4),
    ),
    outside: { waitsAsked: new Map([["call_1_1_2_1_1_1", 60_000]]) },
  },
  {
    name: "a retry exactly when its provider asked",
    script: "agent-failing",
    corruption: changes("call.failed", { retry_at: START + 1_204 }, 2),
    outside: { waitsAsked: new Map([["call_1_1_2_1_1_1", 103]]) },
  },
  {
    name: "20 progress notifications, a second apart",
    script: "asked-by-a-server",
    corruption: all(
      delays("tool.input_required", 30_000),
      ...Array.from({ length: 19 }, (_, nth) =>
        all(repeats("tool.progressed", nth + 1), (log) => spreadProgress(log)),
      ),
    ),
  },
  {
    name: "three requests for input",
    script: "asked-by-a-server",
    corruption: all(repeats("tool.input_required"), repeats("tool.input_required")),
  },
  {
    name: "five inputs at once",
    script: "asked-by-a-server",
    corruption: rewrites("tool.input_required", (event) => ({
      ...event,
      requests: Array.from({ length: 5 }, () => event.requests).flat(),
    })),
  },
  {
    name: "a hundred sources",
    script: "hosted-tools",
    corruption: rewrites("citations.added", (event) => ({
      ...event,
      citations: Array.from({ length: 100 }, () => event.citations).flat(),
    })),
  },
  {
    name: "two searches before the sources",
    script: "hosted-tools",
    corruption: repeats("hosted_tool.completed"),
  },
  {
    name: "a final text that need not be judged at the last moment",
    script: "tie",
    corruption: all(
      withRules({ max_orchestration_restarts: 1 }),
      changes("turn.started", { deadline_at: START + 4_003 }),
    ),
  },
  {
    name: "a cancel requested before it was logged",
    script: "cancel",
    corruption: (log) => [...log],
    outside: { cancelsAsked: [26], cancelAskedAfter: 23 },
  },
  {
    name: "a message before the next call",
    script: "stale-vote",
    corruption: moves("answers.injected", { before: "call.started", beforeNth: 6 }),
  },
  {
    name: "providers' charges within every cap",
    corruption: changes("turn.started", { budget: { max_tokens: 200_000, max_cost_usd: 5 } }),
    outside: { ledger: [{ at: 0, turn: 1, call: "call_1_1_1_1_1_1", tokens: 1_000, usd: 0.0013 }] },
  },
  ...[
    "tie",
    "agent-failing",
    "single-agent",
    "hosted-tools",
    "research-calls",
    "restart-attempt",
    "cut-off-tools",
    "summed-up",
    "budget",
    "cancel",
    "personas",
  ].map((script) => ({
    name: `a second turn like the first in ${script}`,
    script,
    corruption: repeatsTurnAs(2),
  })),
];

/** Sets the times of all progress notifications so that they are a second apart. */
function spreadProgress(log: Parameters<Corruption>[0]): ReturnType<Corruption> {
  let count = 0;
  return log.map((event) =>
    event.type === "tool.progressed" ? { ...event, at: START + 1_102 + 1_000 * count++ } : event,
  );
}
