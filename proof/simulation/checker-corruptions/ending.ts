import type { NumberedEvent } from "../../../checker";
import {
  all,
  changes,
  delays,
  endsAt,
  hides,
  type Corruption,
  moves,
  repeats,
  rewrites,
  withRules,
} from "./corruptions";
import type { Row } from "./row";

const RESTART = "restart-attempt";
const START = 1_790_000_000_000;
const FEEDBACK = { reason: "It is short.", instructions: "Say more." };
const NO_USAGE = { input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 };

/** Changes the usage of every completed call, but not the turn's total. */
const changesUsage = (change: object): Corruption =>
  rewrites("call.completed", (event) => ({ ...event, usage: { ...event.usage, ...change } }));

/** Corruptions of the begin and end of turns and attempts, and of presentations. */
export const ENDING: readonly Row[] = [
  { name: "a session created twice", corruption: repeats("session.created"), invariant: "I2" },
  {
    name: "a first attempt with feedback",
    corruption: changes("attempt.started", { feedback: FEEDBACK }),
    invariant: "I2",
  },
  {
    name: "a presenter's own text although the winning answer is to be reused",
    corruption: withRules({ reuse_winning_answer: true }),
    invariant: "presentation",
  },
  {
    name: "a second attempt without feedback",
    script: RESTART,
    corruption: changes("attempt.started", { feedback: null }, 2),
    invariant: "I2",
  },
  {
    name: "an attempt that skips a number",
    script: RESTART,
    corruption: changes("attempt.started", { attempt: 3 }, 2),
    invariant: "I2",
  },
  {
    name: "a turn that skips a number",
    corruption: changes("turn.started", { turn: 2 }),
    invariant: "I2",
  },
  { name: "a turn started within a turn", corruption: repeats("turn.started"), invariant: "I2" },
  {
    name: "an event of another attempt",
    corruption: changes("vote.cast", { attempt: 2 }),
    invariant: "I2",
  },
  {
    name: "an event of another turn",
    corruption: changes("vote.cast", { turn: 2 }),
    invariant: "I2",
  },
  {
    name: "a settled attempt that is not the running one",
    corruption: changes("attempt.settled", { attempt: 2 }),
    invariant: "I2",
  },
  {
    name: "an agent without an alias",
    corruption: changes("turn.started", { aliases: { ada: "agent1", bela: "agent2" } }),
    invariant: "I2",
  },
  {
    name: "aliases that count from zero",
    corruption: changes("turn.started", {
      aliases: { ada: "agent0", bela: "agent1", cleo: "agent2" },
    }),
    invariant: "I2",
  },
  {
    name: "an alias for an unknown agent",
    corruption: changes("turn.started", {
      aliases: { ada: "agent1", bela: "agent2", cleo: "agent3", dora: "agent4" },
    }),
    invariant: "I2",
  },
  {
    name: "a turn that names another final text",
    corruption: changes("turn.completed", { label: "agent1.final" }),
    invariant: "I3",
  },
  {
    name: "a turn that names another winner",
    corruption: changes("turn.completed", { winner: "ada" }),
    invariant: "I3",
  },
  {
    name: "a turn that names an earlier attempt",
    script: RESTART,
    corruption: changes("turn.completed", { attempt: 1 }),
    invariant: "I3",
  },
  {
    name: "the final text of the first attempt although the second attempt has a winner",
    script: RESTART,
    corruption: all(hides("presentation.started", 2), hides("presentation.completed", 2)),
    invariant: "I3",
  },
  {
    name: "a turn without an attempt",
    corruption: endsAt("turn.started"),
    invariant: "I4",
  },
  {
    name: "a failed turn with a presented text",
    corruption: failsInsteadOfCompleting("no_answer"),
    invariant: "I3",
  },
  {
    name: "an internal error with another total cost",
    corruption: failsInsteadOfCompleting("internal"),
    invariant: "totals",
  },
  {
    name: "an internal error with calls in flight",
    corruption: all(hides("call.completed", 7), failsInsteadOfCompleting("internal")),
    invariant: "totals",
  },
  {
    name: "total tokens that differ from the sum of the calls",
    corruption: changes("turn.completed", {
      usage: { ...NO_USAGE, input_tokens: 5_600, output_tokens: 1_400 },
    }),
    invariant: "totals",
  },
  {
    name: "total searches that differ from the sum of the calls",
    script: "hosted-tools",
    corruption: changesUsage({ hosted_uses: { x_search: 1, code_execution: 2 } }),
    invariant: "totals",
  },
  {
    name: "a total without cached tokens",
    corruption: changesUsage({ cache_write_tokens: 5 }),
    invariant: "totals",
  },
  {
    name: "a total without reasoning tokens",
    corruption: changesUsage({ reasoning_tokens: 5 }),
    invariant: "totals",
  },
  {
    name: "a total without a failed call",
    script: "restarted-service",
    corruption: changes("call.failed", { usage: { ...NO_USAGE, input_tokens: 9 }, cost_usd: 0 }),
    invariant: "totals",
  },
  {
    name: "a cancelled turn without its answer",
    script: "cancel",
    corruption: changes("turn.cancelled", { partial: { winner: "ada", answer: null, text: null } }),
    invariant: "I15",
  },
  {
    name: "a cancelled turn with another answer",
    script: "cancel",
    corruption: changes("turn.cancelled", {
      partial: { winner: "ada", answer: "Go.", text: null },
    }),
    invariant: "I15",
  },
  {
    name: "a turn that continues after it was cancelled",
    script: "cancel",
    corruption: delays("turn.cancelled", 5),
    outside: { cancelAskedAfter: 23 },
    invariant: "I15",
  },
  {
    name: "a tool that starts after a cancel",
    script: "single-agent",
    corruption: (log) => [...log],
    outside: { cancelAskedAfter: 7 },
    invariant: "I15",
  },
  {
    name: "a hidden vote; the cancel was requested when the turn began, which is valid",
    script: "cancel",
    corruption: hides("vote.cast"),
    outside: { cancelsAsked: [2] },
    invariant: "I5-winner",
  },
  {
    name: "a cancel requested only after it was logged",
    script: "cancel",
    corruption: (log) => [...log],
    outside: { cancelsAsked: [27] },
    invariant: "I15",
  },
  {
    name: "a hidden vote; of two requested cancels, the second came during the turn, which is valid",
    script: "cancel",
    corruption: hides("vote.cast"),
    outside: { cancelsAsked: [1, 10] },
    invariant: "I5-winner",
  },
  {
    name: "a final text of an unknown agent",
    corruption: changes("presentation.completed", { agent: "dora", label: "agent0.final" }),
    invariant: "presentation",
  },
  {
    name: "a final text under another label",
    corruption: changes("presentation.completed", { label: "agent1.final" }),
    invariant: "presentation",
  },
  {
    name: "a replaced final text without a need",
    corruption: changes("presentation.completed", { source: "answer", fallback: "It failed." }),
    invariant: "presentation",
  },
  {
    name: "a fallback without a reason",
    script: "budget",
    corruption: changes("presentation.completed", { source: "answer" }),
    invariant: "presentation",
  },
  {
    name: "a reason for a fallback that did not happen",
    corruption: changes("presentation.completed", { fallback: "It failed." }),
    invariant: "presentation",
  },
  {
    name: "a partial text although there is an answer",
    corruption: changes("presentation.completed", { source: "partial", fallback: "It failed." }),
    invariant: "presentation",
  },
  {
    name: "a final text of more than 256 KiB",
    corruption: changes("presentation.completed", { content: "x".repeat(256 * 1024 + 1) }),
    invariant: "presentation",
  },
  {
    name: "a text file of a short final text",
    corruption: changes("presentation.completed", { text_file: "final.txt" }),
    invariant: "presentation",
  },
  {
    name: "an empty final text",
    corruption: changes("presentation.completed", { content: " \n" }),
    invariant: "presentation",
  },
  {
    name: "a presentation whose last call failed",
    corruption: hides("call.completed", 7),
    invariant: "presentation",
  },
  {
    name: "a presentation started twice",
    corruption: repeats("presentation.started"),
    invariant: "presentation",
  },
  {
    name: "a presentation that skips a round",
    corruption: changes("presentation.started", { round: 4 }),
    invariant: "rounds",
  },
  {
    name: "a presenter with another agent's files",
    corruption: changes("presentation.started", { workspace: "agent1.1" }),
    invariant: "presentation",
  },
  {
    name: "a presentation of nothing",
    corruption: changes("presentation.started", { label: null }),
    invariant: "presentation",
  },
  {
    name: "a restart by another agent",
    script: RESTART,
    corruption: changes("attempt.restarted", { agent: "bela" }),
    invariant: "presentation",
  },
  {
    name: "a restart of a replaced final text",
    script: RESTART,
    corruption: changes("presentation.completed", { source: "answer", fallback: "It failed." }),
    invariant: "presentation",
  },
  {
    name: "a restart without a final text",
    script: RESTART,
    corruption: hides("presentation.completed"),
    invariant: "presentation",
  },
  {
    name: "a final text judged by another",
    script: RESTART,
    corruption: changes("round.started", { agent: "bela" }, 5),
    invariant: "presentation",
  },
  {
    name: "a final text followed by another round than a judgement",
    script: RESTART,
    corruption: changes("round.started", { purpose: "coordination" }, 5),
    invariant: "presentation",
  },
  {
    name: "a final text that is not judged although there is just enough time",
    script: "tie",
    corruption: all(
      withRules({ max_orchestration_restarts: 1 }),
      changes("turn.started", { deadline_at: START + 4_004 }),
    ),
    invariant: "presentation",
  },
  {
    name: "a replaced text that is not judged although further attempts are allowed",
    script: "tie",
    corruption: all(
      withRules({ max_orchestration_restarts: 1 }),
      changes("presentation.completed", { source: "answer", fallback: "It failed." }),
    ),
    invariant: "presentation",
  },
  {
    name: "personas without the rule",
    script: "personas",
    corruption: withRules({ personas: false }),
    invariant: "presentation",
  },
  {
    name: "personas after the work began",
    script: "personas",
    corruption: all(
      repeats("personas.assigned"),
      moves("personas.assigned", { nth: 2, before: "call.started", beforeNth: 3 }),
    ),
    invariant: "presentation",
  },
  {
    name: "empty personas",
    script: "personas",
    corruption: all(
      changes("personas.assigned", { personas: {} }),
      changes("call.completed", { stop_reason: "length" }),
      changes("presentation.completed", { content: "" }),
    ),
    invariant: "presentation",
  },
];

/** Replaces the turn's completion by a failure with this code, and adds 1 to its cost. */
function failsInsteadOfCompleting(code: string): Corruption {
  return (log) =>
    log.map((event): NumberedEvent => {
      if (event.type !== "turn.completed") return event;
      const { at, turn, sequence_number, usage, cost_usd } = event;
      return {
        type: "turn.failed",
        sequence_number,
        at,
        turn,
        code,
        message: "",
        agents: [],
        usage,
        cost_usd: (cost_usd ?? 0) + 1,
      };
    });
}
