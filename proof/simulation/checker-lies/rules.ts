import {
  adds,
  all,
  changes,
  echoesAtEnd,
  hides,
  type Lie,
  moves,
  repeats,
} from "../../../checker/lies";
import type { Row } from "./row";

const WANTS = {
  type: "tool.input_required" as const,
  origin: "https://far.example.com",
  requests: [],
};

/** A running tool tells its progress so many times. */
function tells(times: number, everyMs: number): Lie {
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
  origin: WANTS.origin,
  progress: 1,
  total: null,
  message: null,
} as const;
const TELLS_LATE = adds("tool.completed", ({ outcome: _, ...event }) => [
  { ...event, ...PROGRESS },
]);

/** Small untruths about whole turns, each with the rule that it breaks first of all. */
export const RULES: readonly Row[] = [
  {
    name: "a gap in the numbers",
    lie: (log) => log.filter(({ type }) => type !== "vote.cast"),
    invariant: "I2",
  },
  { name: "time that runs backwards", lie: changes("vote.cast", { at: 1 }), invariant: "I2" },
  {
    name: "two agents with one alias",
    lie: changes("turn.started", { aliases: { ada: "agent1", bela: "agent1", cleo: "agent3" } }),
    invariant: "I2",
  },
  { name: "a second final text", lie: repeats("presentation.completed"), invariant: "I3" },
  {
    name: "an answer that is not the final text",
    lie: changes("turn.completed", { answer: "Something else." }),
    invariant: "I3",
  },
  {
    name: "another reason than the attempt ended for",
    lie: changes("turn.completed", { finish_reason: "deadline" }),
    invariant: "I3",
  },
  {
    name: "a completed turn without a final text",
    lie: hides("presentation.completed"),
    invariant: "I3",
  },
  { name: "an event after the end", lie: echoesAtEnd("vote.cast"), invariant: "I4" },
  { name: "two ends", lie: repeats("turn.completed"), invariant: "I4" },
  { name: "no end", lie: hides("turn.completed"), invariant: "I4" },
  {
    name: "a vote for an answer that does not exist",
    lie: changes("vote.cast", { label: "agent2.7" }),
    invariant: "I5",
  },
  {
    name: "a vote before the voter saw the answers",
    lie: moves("vote.cast", { before: "round.started", beforeNth: 4 }),
    invariant: "I5",
  },
  {
    name: "a vote that names another revision",
    lie: changes("vote.cast", { revision: 1 }),
    invariant: "I5",
  },
  { name: "two votes of one agent", lie: repeats("vote.cast"), invariant: "I5" },
  {
    name: "a stale vote that counts",
    story: "stale-vote",
    lie: hides("answers.injected"),
    invariant: "I5",
  },
  {
    name: "a stale vote that hides what was missing",
    story: "stale-vote",
    lie: changes("vote.stale", { missing: [] }),
    invariant: "I5",
  },
  {
    name: "another winner",
    lie: changes("attempt.settled", { winner: "ada", label: "agent1.1" }),
    invariant: "I5-winner",
  },
  {
    name: "a tally with a vote too many",
    lie: changes("attempt.settled", { tally: { "agent2.1": 4 } }),
    invariant: "I5-winner",
  },
  {
    name: "a tie that goes to the later answer",
    story: "tie",
    lie: changes("attempt.settled", { winner: "bela", label: "agent2.1" }),
    invariant: "I5-winner",
  },
  {
    name: "a tie kept quiet",
    story: "tie",
    lie: changes("attempt.settled", { tie: false }),
    invariant: "I5-winner",
  },
  { name: "consensus before the last vote", lie: hides("vote.cast", 3), invariant: "I6" },
  {
    name: "a deadline that has not come",
    lie: changes("attempt.settled", { ended_by: "deadline" }),
    invariant: "I6",
  },
  {
    name: "want of budget where no call waits for any",
    lie: changes("attempt.settled", { ended_by: "budget" }),
    invariant: "I6",
  },
  {
    name: "an answer shown to an agent without one",
    lie: changes("round.started", { labels: ["agent1.1"] }),
    invariant: "I22",
  },
  {
    name: "a first round begun anew because of another's answer",
    lie: all(
      repeats("round.started", 3),
      moves("round.started", { nth: 4, before: "call.completed", beforeNth: 2 }),
    ),
    invariant: "I7",
  },
  {
    name: "a first round that is cut and goes on",
    story: "agent-failing",
    lie: changes("call.failed", { class: "cancelled" }, 2),
    invariant: "I7",
  },
  {
    name: "a first round that fails for what another did",
    story: "nobody-answers",
    lie: moves("round.failed", { nth: 2, before: "call.failed", beforeNth: 3 }),
    invariant: "I7",
  },
  {
    name: "a reservation beyond the cap",
    story: "budget",
    lie: changes("call.started", { reserved: { tokens: 90_000, cost_usd: 0 } }),
    invariant: "I11",
  },
  {
    name: "a charge beyond the reservation",
    lie: changes("call.completed", { cost_usd: 7 }),
    invariant: "I11",
  },
  { name: "a call that never ended", lie: hides("call.completed", 6), invariant: "I12" },
  { name: "a call started twice", lie: repeats("call.started"), invariant: "I12" },
  { name: "a call that ends without a start", lie: hides("call.started", 3), invariant: "I12" },
  {
    name: "a call after a vote",
    lie: all(
      repeats("call.started", 4),
      moves("call.started", { nth: 5, before: "vote.cast", beforeNth: 3 }),
    ),
    invariant: "I12",
  },
  {
    name: "a tool result nobody waits for",
    story: "single-agent",
    lie: repeats("tool.completed"),
    invariant: "tools",
  },
  {
    name: "a tool that succeeds without having run",
    story: "single-agent",
    lie: hides("tool.started"),
    invariant: "tools",
  },
  {
    name: "a tool only planned where nothing is planned",
    story: "single-agent",
    lie: changes("tool.completed", { outcome: "planned" }),
    invariant: "tools",
  },
  {
    name: "a tool that tells its progress without running",
    story: "single-agent",
    lie: TELLS_LATE,
    invariant: "news",
  },
  {
    name: "a tool that tells its progress twice in a second",
    story: "single-agent",
    lie: tells(2, 999),
    invariant: "news",
  },
  {
    name: "a tool that tells its progress without end",
    story: "single-agent",
    lie: tells(21, 1_000),
    invariant: "news",
  },
  {
    name: "a server that wants something of a person again and again",
    story: "single-agent",
    lie: adds("tool.started", (event) => Array.from({ length: 4 }, () => ({ ...event, ...WANTS }))),
    invariant: "news",
  },
  {
    name: "a cancelled attempt whose turn goes on",
    story: "cancel",
    lie: hides("turn.cancelled"),
    invariant: "I15",
  },
  {
    name: "a cancelled turn that lost its winner",
    story: "cancel",
    lie: changes("turn.cancelled", { partial: { winner: null, answer: null, text: null } }),
    invariant: "I15",
  },
  {
    name: "a revision left out",
    lie: changes("answer.submitted", { revision: 3 }, 2),
    invariant: "answers",
  },
  {
    name: "a label of another agent",
    lie: changes("answer.submitted", { label: "agent3.1" }),
    invariant: "answers",
  },
  {
    name: "an empty answer",
    lie: changes("answer.submitted", { content: " " }),
    invariant: "answers",
  },
  {
    name: "voided votes that are not told",
    story: "improved-answer-with-injection",
    lie: hides("votes.cleared"),
    invariant: "voided",
  },
  {
    name: "voided votes of the wrong agent",
    story: "improved-answer-with-injection",
    lie: changes("votes.cleared", { votes: [{ agent: "ada", label: "agent1.1" }] }),
    invariant: "voided",
  },
  {
    name: "an answer beyond the limit",
    story: "improved-answer-with-injection",
    lie: limitedTo(1),
    invariant: "limits",
  },
  {
    name: "an answer that repeats one its author was shown",
    story: "improved-answer-with-injection",
    lie: changes("answer.submitted", { content: "Take the  road." }, 4),
    invariant: "novelty",
  },
  {
    name: "an update with an old answer",
    story: "improved-answer-with-injection",
    lie: changes("answers.injected", { labels: ["agent2.1"] }),
    invariant: "shown",
  },
  {
    name: "a round that shows too little",
    lie: changes("round.started", { labels: ["agent1.1"] }, 4),
    invariant: "shown",
  },
  {
    name: "a reopened round that no voided vote closed",
    story: "improved-answer-with-injection",
    lie: changes("answers.injected", { via: "reopened" }, 2),
    invariant: "injections",
  },
  {
    name: "an agent that does not wait for the others' first answers",
    lie: moves("round.started", { nth: 4, before: "call.completed", beforeNth: 2 }),
    invariant: "waiting",
  },
  {
    name: "a round that skips a number",
    lie: changes("round.started", { round: 9 }, 5),
    invariant: "rounds",
  },
  {
    name: "a new try before it is due",
    story: "agent-failing",
    lie: changes("call.failed", { retry_at: 9_999_999_999_999 }, 2),
    invariant: "tries",
  },
  {
    name: "a bad key that is tried again",
    story: "agent-failing",
    lie: changes("call.failed", { retry_at: 1_790_000_000_400 }),
    invariant: "tries",
  },
  {
    name: "a bad key that leaves its agent alive",
    story: "agent-failing",
    lie: hides("agent.failed"),
    invariant: "failures",
  },
  {
    name: "a vote offered before the first answer",
    lie: changes("call.started", { offers: ["new_answer", "vote"] }),
    invariant: "offers",
  },
  {
    name: "a decision forced without a nudge",
    lie: changes("call.started", { forced: true }),
    invariant: "offers",
  },
  {
    name: "a presentation of a loser",
    lie: changes("presentation.started", { agent: "ada" }),
    invariant: "presentation",
  },
  {
    name: "a cut reply presented as the final text",
    story: "single-agent",
    lie: changes("call.completed", { stop_reason: "unknown" }, 2),
    invariant: "presentation",
  },
  {
    name: "more restarts than allowed",
    story: "restart-attempt",
    lie: restartsAllowed(0),
    invariant: "presentation",
  },
  {
    name: "more uses of a hosted tool than the agent may have",
    story: "hosted-tools",
    lie: changes("call.started", { hosted_tools: [{ name: "web_search", max_uses: 6 }] }),
    invariant: "hosted",
  },
  {
    name: "a hosted tool the agent does not have",
    lie: changes("call.started", { hosted_tools: [{ name: "web_search", max_uses: 1 }] }),
    invariant: "hosted",
  },
  {
    name: "a summary with tools at hand",
    lie: changes("call.started", { compacts: true }),
    invariant: "compaction",
  },
  {
    name: "a summary with room left in the window",
    story: "single-agent",
    lie: changes("call.started", { compacts: true, offers: [], forced: false }, 2),
    invariant: "compaction",
  },
  {
    name: "research by an agent that has its hosted tools beside functions",
    story: "hosted-tools",
    lie: changes("call.started", { offers: [] }),
    invariant: "research",
  },
  {
    name: "hosted tools beside functions where they do not run",
    story: "research-calls",
    lie: changes("call.started", { offers: ["new_answer"] }),
    invariant: "research",
  },
  {
    name: "research that nobody was granted a tool for",
    story: "research-calls",
    lie: changes("call.started", { hosted_tools: [] }),
    invariant: "research",
  },
  {
    name: "research that runs a function nobody offered",
    story: "research-calls",
    lie: changes("call.completed", { tools: [{ tool_call: "t1", name: "read_file" }] }),
    invariant: "research",
  },
  {
    name: "uses that were not paid for beforehand",
    story: "hosted-tools",
    lie: changes("call.started", { reserved: { tokens: 100, cost_usd: 0 } }),
    invariant: "hosted",
  },
  {
    name: "a reply cut short although it has uses left",
    story: "hosted-tools",
    lie: changes("call.started", { max_output_tokens: 500 }),
    invariant: "hosted",
  },
  {
    name: "a search told after its call",
    story: "hosted-tools",
    lie: hides("call.completed"),
    invariant: "hosted",
  },
  {
    name: "a search of a call nobody started",
    story: "hosted-tools",
    lie: hides("call.started"),
    invariant: "hosted",
  },
  {
    name: "a list of no sources",
    story: "hosted-tools",
    lie: changes("citations.added", { citations: [] }),
    invariant: "hosted",
  },
  {
    name: "a search that is not charged",
    story: "hosted-tools",
    lie: changes("call.completed", { cost_usd: 0.001 }),
    invariant: "I11",
  },
  {
    name: "a total that leaves a search out",
    story: "hosted-tools",
    lie: changes("turn.completed", {
      usage: { input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 },
    }),
    invariant: "totals",
  },
  {
    name: "a total that leaves a call out",
    lie: changes("turn.completed", { cost_usd: 0 }),
    invariant: "totals",
  },
];

function limitedTo(most: number): Lie {
  return (log) =>
    log.map((event) =>
      event.type === "session.created"
        ? { ...event, rules: { ...event.rules, max_new_answers_per_agent: most } }
        : event,
    );
}

function restartsAllowed(most: number): Lie {
  return (log) =>
    log.map((event) =>
      event.type === "session.created"
        ? { ...event, rules: { ...event.rules, max_orchestration_restarts: most } }
        : event,
    );
}
