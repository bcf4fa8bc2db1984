import { changes, hides, type Corruption, moves } from "./corruptions";
import type { Row } from "./row";

/** Corruptions of whole turns that violate a coordination rule. */
export const RULES: readonly Row[] = [
  {
    name: "a skipped revision",
    corruption: changes("answer.submitted", { revision: 3 }, 2),
    invariant: "answers",
  },
  {
    name: "a label of another agent",
    corruption: changes("answer.submitted", { label: "agent3.1" }),
    invariant: "answers",
  },
  {
    name: "an empty answer",
    corruption: changes("answer.submitted", { content: " " }),
    invariant: "answers",
  },
  {
    name: "cleared votes that are not logged",
    script: "improved-answer-with-injection",
    corruption: hides("votes.cleared"),
    invariant: "voided",
  },
  {
    name: "cleared votes of the wrong agent",
    script: "improved-answer-with-injection",
    corruption: changes("votes.cleared", { votes: [{ agent: "ada", label: "agent1.1" }] }),
    invariant: "voided",
  },
  {
    name: "an answer beyond the limit",
    script: "improved-answer-with-injection",
    corruption: limitsAnswersTo(1),
    invariant: "limits",
  },
  {
    name: "an answer that repeats one its author was shown",
    script: "improved-answer-with-injection",
    corruption: changes("answer.submitted", { content: "Take the  road." }, 4),
    invariant: "novelty",
  },
  {
    name: "an update with an old answer",
    script: "improved-answer-with-injection",
    corruption: changes("answers.injected", { labels: ["agent2.1"] }),
    invariant: "shown",
  },
  {
    name: "a round that shows too little",
    corruption: changes("round.started", { labels: ["agent1.1"] }, 4),
    invariant: "shown",
  },
  {
    name: "a reopened round that no voided vote closed",
    script: "improved-answer-with-injection",
    corruption: changes("answers.injected", { via: "reopened" }, 2),
    invariant: "injections",
  },
  {
    name: "an agent that does not wait for the others' first answers",
    corruption: moves("round.started", { nth: 4, before: "call.completed", beforeNth: 2 }),
    invariant: "waiting",
  },
  {
    name: "a round that skips a number",
    corruption: changes("round.started", { round: 9 }, 5),
    invariant: "rounds",
  },
  {
    name: "a retry before it is due",
    script: "agent-failing",
    corruption: changes("call.failed", { retry_at: 9_999_999_999_999 }, 2),
    invariant: "tries",
  },
  {
    name: "a bad key that is retried",
    script: "agent-failing",
    corruption: changes("call.failed", { retry_at: 1_790_000_000_400 }),
    invariant: "tries",
  },
  {
    name: "a bad key that leaves its agent alive",
    script: "agent-failing",
    corruption: hides("agent.failed"),
    invariant: "failures",
  },
  {
    name: "a vote offered before the first answer",
    corruption: changes("call.started", { offers: ["new_answer", "vote"] }),
    invariant: "offers",
  },
  {
    name: "a decision forced without a nudge",
    corruption: changes("call.started", { forced: true }),
    invariant: "offers",
  },
  {
    name: "a presentation by another agent than the winner",
    corruption: changes("presentation.started", { agent: "ada" }),
    invariant: "presentation",
  },
  {
    name: "a cut reply presented as the final text",
    script: "single-agent",
    corruption: changes("call.completed", { stop_reason: "unknown" }, 2),
    invariant: "presentation",
  },
  {
    name: "more restarts than allowed",
    script: "restart-attempt",
    corruption: allowsRestarts(0),
    invariant: "presentation",
  },
  {
    name: "more uses of a hosted tool than the agent may have",
    script: "hosted-tools",
    corruption: changes("call.started", { hosted_tools: [{ name: "web_search", max_uses: 6 }] }),
    invariant: "hosted",
  },
  {
    name: "a hosted tool the agent does not have",
    corruption: changes("call.started", { hosted_tools: [{ name: "web_search", max_uses: 1 }] }),
    invariant: "hosted",
  },
  {
    name: "a compaction with tools",
    corruption: changes("call.started", { compacts: true }),
    invariant: "compaction",
  },
  {
    name: "a compaction although the window has room",
    script: "single-agent",
    corruption: changes("call.started", { compacts: true, offers: [], forced: false }, 2),
    invariant: "compaction",
  },
  {
    name: "research by an agent that has its hosted tools beside functions",
    script: "hosted-tools",
    corruption: changes("call.started", { offers: [] }),
    invariant: "research",
  },
  {
    name: "hosted tools beside functions where they do not run",
    script: "research-calls",
    corruption: changes("call.started", { offers: ["new_answer"] }),
    invariant: "research",
  },
  {
    name: "research without a granted tool",
    script: "research-calls",
    corruption: changes("call.started", { hosted_tools: [] }),
    invariant: "research",
  },
  {
    name: "research that runs a function that was not offered",
    script: "research-calls",
    corruption: changes("call.completed", { tools: [{ tool_call: "t1", name: "read_file" }] }),
    invariant: "research",
  },
  {
    name: "uses without a reservation",
    script: "hosted-tools",
    corruption: changes("call.started", { reserved: { tokens: 100, cost_usd: 0 } }),
    invariant: "hosted",
  },
  {
    name: "a reply cut short although it has uses left",
    script: "hosted-tools",
    corruption: changes("call.started", { max_output_tokens: 500 }),
    invariant: "hosted",
  },
  {
    name: "a search logged after its call",
    script: "hosted-tools",
    corruption: hides("call.completed"),
    invariant: "hosted",
  },
  {
    name: "a search of a call that was not started",
    script: "hosted-tools",
    corruption: hides("call.started"),
    invariant: "hosted",
  },
  {
    name: "a list of no sources",
    script: "hosted-tools",
    corruption: changes("citations.added", { citations: [] }),
    invariant: "hosted",
  },
  {
    name: "a search without a charge",
    script: "hosted-tools",
    corruption: changes("call.completed", { cost_usd: 0.001 }),
    invariant: "I11",
  },
  {
    name: "a total without a search",
    script: "hosted-tools",
    corruption: changes("turn.completed", {
      usage: { input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 },
    }),
    invariant: "totals",
  },
  {
    name: "a total without a call",
    corruption: changes("turn.completed", { cost_usd: 0 }),
    invariant: "totals",
  },
];

/** Sets the maximum number of answers per agent. */
function limitsAnswersTo(most: number): Corruption {
  return (log) =>
    log.map((event) =>
      event.type === "session.created"
        ? { ...event, rules: { ...event.rules, max_new_answers_per_agent: most } }
        : event,
    );
}

/** Sets the maximum number of restarts. */
function allowsRestarts(most: number): Corruption {
  return (log) =>
    log.map((event) =>
      event.type === "session.created"
        ? { ...event, rules: { ...event.rules, max_orchestration_restarts: most } }
        : event,
    );
}
