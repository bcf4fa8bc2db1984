import type { EventOf } from "../../../src/protocol/events";
import {
  adds,
  all,
  changes,
  endsAt,
  hides,
  type Corruption,
  withAgentRules,
  repeats,
  rewrites,
} from "./corruptions";
import { logOf, type Row } from "./row";

const RESTART = "restart-attempt";
const FAILING = "agent-failing";
const NO_ANSWERS = "nobody-answers";
const START = 1_790_000_000_000;
const NO_USAGE = { input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 };

const withBudget = (budget: { max_tokens?: number; max_cost_usd?: number }): Corruption =>
  changes("turn.started", { budget });
const withPrice = (change: object): Corruption =>
  withAgentRules({ price: { input: 1, cached_input: 0.25, output: 4, ...change } });

/**
 * Gives every agent a workspace, and gives the answers these snapshots, in the order of the log.
 */
const withFiles = (snapshots: readonly (string | null)[]): Corruption => {
  return (log) => {
    const pending = [...snapshots];
    const withWorkspaces = withAgentRules({ workspace: true })(log);
    const changesAnswers = rewrites("answer.submitted", (event) => {
      const snapshot = pending.shift() ?? null;
      return { ...event, snapshot, files: snapshot === event.label ? "workspace" : "kept" };
    });
    const changesFinals = rewrites("presentation.completed", (event) => ({
      ...event,
      snapshot: event.label,
      files: "workspace",
    }));
    return changesFinals(changesAnswers(withWorkspaces));
  };
};

const finals = logOf().filter(({ type }) => type === "presentation.completed");
/** The facts of a workspace that its round did not change, and of a changed one. */
const UNCHANGED = { files: 7, changed: false };
const changedTo = (files: number) => ({ files, changed: true });

/** Corruptions of retried and lost calls, of the files of answers, and of costs. */
export const TRYING: readonly Row[] = [
  {
    name: "a second try logged as the first",
    script: FAILING,
    corruption: changes("call.started", { try: 1 }, 4),
    invariant: "tries",
  },
  {
    name: "a first try logged as the second",
    script: FAILING,
    corruption: changes("call.started", { try: 2 }),
    invariant: "tries",
  },
  {
    name: "a try after a lost call",
    script: FAILING,
    corruption: changes("call.failed", { retry_at: null }, 2),
    invariant: "tries",
  },
  {
    name: "a try one millisecond too early",
    script: FAILING,
    corruption: changes("call.failed", { retry_at: START + 1_205 }, 2),
    invariant: "tries",
  },
  {
    name: "a try without a delay",
    script: FAILING,
    corruption: changes("call.failed", { retry_at: START + 1_101 }, 2),
    invariant: "tries",
  },
  {
    name: "a try after more than a minute",
    script: FAILING,
    corruption: changes("call.failed", { retry_at: START + 61_102 }, 2),
    invariant: "tries",
  },
  {
    name: "a try after a minute that comes earlier",
    script: FAILING,
    corruption: changes("call.failed", { retry_at: START + 61_101 }, 2),
    invariant: "tries",
  },
  {
    name: "an interrupted call that is not retried",
    script: "restarted-service",
    corruption: changes("call.failed", { retry_at: null }),
    invariant: "tries",
  },
  {
    name: "a call that was too long, retried after a delay",
    script: "summed-up",
    corruption: changes("call.failed", { retry_at: START + 3_803 }),
    invariant: "tries",
  },
  {
    name: "a compaction retried after a delay",
    script: "summed-up",
    corruption: changes("call.failed", {
      call: "call_1_1_2_1_1_1",
      class: "quota",
      retry_at: START + 3_803,
    }),
    invariant: "tries",
  },
  { name: "a sixth try of a call", script: FAILING, corruption: failsTimes(5), invariant: "tries" },
  {
    name: "a fifth try of a call that was never made",
    script: FAILING,
    corruption: failsTimes(4),
    invariant: "I12",
  },
  {
    name: "a sixth interruption",
    script: "restarted-service",
    corruption: failsTimes(6),
    invariant: "tries",
  },
  {
    name: "a lost presentation call after which the turn continues",
    script: RESTART,
    corruption: all(adds("call.started", loseCall, 5)),
    invariant: "tries",
  },
  {
    name: "a lost judgement after which the attempt restarts",
    script: RESTART,
    corruption: all(adds("call.started", loseCall, 6)),
    invariant: "tries",
  },
  {
    name: "lost personas without an event",
    script: "personas",
    corruption: adds("call.started", loseCall),
    invariant: "tries",
  },
  {
    name: "an agent that fails twice",
    script: FAILING,
    corruption: repeats("agent.failed"),
    invariant: "failures",
  },
  {
    name: "an agent that abstains without an answer",
    script: FAILING,
    corruption: adds("agent.failed", (event) => [{ ...event, type: "agent.abstained" }]),
    invariant: "failures",
  },
  {
    name: "an agent that fails after two failed rounds",
    script: NO_ANSWERS,
    corruption: hides("round.failed"),
    invariant: "failures",
  },
  {
    name: "a fourth failed round",
    script: NO_ANSWERS,
    corruption: repeats("round.failed", 3),
    invariant: "failures",
  },
  {
    name: "three failed rounds although the agent continues",
    script: NO_ANSWERS,
    corruption: hides("agent.failed", 2),
    invariant: "failures",
  },
  {
    name: "three failed rounds, but another agent fails",
    script: NO_ANSWERS,
    corruption: changes("agent.failed", { agent: "bela" }, 2),
    invariant: "failures",
  },
  {
    name: "a bad key, but another agent fails",
    script: FAILING,
    corruption: changes("agent.failed", { agent: "ada" }),
    invariant: "failures",
  },
  {
    name: "a last exhausted quota that costs the agent at once",
    script: NO_ANSWERS,
    corruption: hides("round.failed", 3),
    invariant: "failures",
  },
  {
    name: "an answer with another answer's snapshot",
    corruption: withFiles(["agent1.1", "agent1.1", "agent3.1"]),
    outside: {
      files: new Map([
        [11, changedTo(1)],
        [13, changedTo(1)],
        [15, changedTo(1)],
      ]),
    },
    invariant: "I10",
  },
  {
    name: "an unchanged workspace that does not keep the files of the turn's start",
    corruption: withFiles(["base", "agent2.1", "agent3.1"]),
    outside: {
      files: new Map([
        [11, UNCHANGED],
        [13, UNCHANGED],
        [15, UNCHANGED],
      ]),
    },
    invariant: "I10",
  },
  {
    name: "an unchanged workspace that does not keep the previous files",
    script: "stale-vote",
    corruption: withFiles(["agent1.1", "agent2.1", "base"]),
    outside: {
      files: new Map([
        [9, changedTo(2)],
        [11, changedTo(2)],
        [17, UNCHANGED],
      ]),
    },
    invariant: "I10",
  },
  {
    name: "an unchanged workspace that keeps files of an earlier attempt",
    script: RESTART,
    corruption: withFiles(["agent1.1", "agent2.1", "agent1.1", "agent2.1"]),
    outside: {
      files: new Map([
        [9, changedTo(2)],
        [11, changedTo(2)],
        [35, UNCHANGED],
        [37, changedTo(2)],
      ]),
    },
    invariant: "I10",
  },
  {
    name: "a workspace that its round emptied, not logged as empty",
    corruption: withFiles(["agent1.1", "agent2.1", "agent3.1"]),
    outside: { files: new Map([[11, changedTo(0)]]) },
    invariant: "I10",
  },
  {
    name: "an answer that does not name the files it omits",
    corruption: withFiles(["agent1.1", "agent2.1", "agent3.1"]),
    outside: {
      files: new Map([[11, { ...changedTo(1), leftOut: { count: 1, paths: ["a.txt"] } }]]),
    },
    invariant: "I10",
  },
  {
    name: "a final text with the files of a presenter that changed none",
    corruption: withFiles(["agent1.1", "agent2.1", "agent3.1"]),
    outside: { files: new Map(finals.map(({ sequence_number }) => [sequence_number, UNCHANGED])) },
    invariant: "I10",
  },
  {
    name: "a snapshot lost although the workspace is unknown",
    corruption: withFiles(["agent1.1", "agent7.7", null]),
    outside: { files: new Map([[13, null]]) },
    invariant: "I10",
  },
  {
    name: "a snapshot without a workspace",
    corruption: changes("answer.submitted", { snapshot: "agent1.1" }),
    invariant: "I10",
  },
  {
    name: "a reservation just within the cap",
    corruption: all(
      withBudget({ max_tokens: 100_000, max_cost_usd: 0.06 }),
      changes("call.started", { reserved: { tokens: 4_096, cost_usd: 0.01 } }, 7),
    ),
    invariant: "deferrals",
  },
  {
    name: "a reservation beyond the cost cap",
    corruption: withBudget({ max_cost_usd: 0.05 }),
    invariant: "I11",
  },
  {
    name: "a charge of more tokens than were reserved",
    corruption: changes("call.started", { reserved: { tokens: 999, cost_usd: 1 } }),
    invariant: "I11",
  },
  {
    name: "a charge other than the price of the usage",
    corruption: changes("call.completed", { cost_usd: 0.0012 }),
    invariant: "I11",
  },
  {
    name: "a failed call charged more than it reserved",
    script: "restarted-service",
    corruption: changes("call.failed", { tokens: 90_000, cost_usd: 3 }),
    invariant: "I11",
  },
  {
    name: "a failed call with another charge than the price of its usage",
    script: "restarted-service",
    corruption: changes("call.failed", {
      usage: { ...NO_USAGE, input_tokens: 1_000, output_tokens: 100 },
      cost_usd: 0.001,
    }),
    invariant: "I11",
  },
  {
    name: "a long prompt charged as a short one",
    corruption: withPrice({ long_prompt: { above: 799, input: 2, cached_input: 0.5, output: 6 } }),
    invariant: "I11",
  },
  {
    name: "a short prompt with the price of a short prompt, except for its cache",
    script: "hosted-tools",
    corruption: withPrice({
      long_prompt: { above: 1_299, input: 2, cached_input: 0.5, output: 6 },
    }),
    invariant: "I11",
  },
  {
    name: "cache writes charged as other input",
    script: "hosted-tools",
    corruption: withPrice({ cache_write: 5 }),
    invariant: "I11",
  },
  {
    name: "tokens charged by a provider beyond the cap",
    corruption: withBudget({ max_tokens: 99_999 }),
    outside: { ledger: [{ at: 0, turn: 1, call: "call_1_1_1_1_1_1", tokens: 100_000, usd: 0 }] },
    invariant: "I11-ledger",
  },
  {
    name: "money charged by a provider beyond the cap",
    corruption: withBudget({ max_cost_usd: 0.5 }),
    outside: { ledger: [{ at: 0, turn: 1, call: "call_1_1_1_1_1_1", tokens: 0, usd: 0.6 }] },
    invariant: "I11-ledger",
  },
  {
    name: "a charge for a running call",
    script: "tie",
    corruption: endsAt("call.started"),
    outside: { ledger: [{ at: 0, turn: 1, call: "call_1_1_1_1_1_1", tokens: 5, usd: 0 }] },
    invariant: "I4",
  },
  {
    name: "a charge for a failed call",
    script: "restarted-service",
    corruption: (log) => [...log],
    outside: { ledger: [{ at: 0, turn: 1, call: "call_1_1_1_1_1_1", tokens: 50_000, usd: 1 }] },
    invariant: "I11-ledger",
  },
];

/** Repeats the first failure that is retried, so that the log has it `times` times. */
function failsTimes(times: number): Corruption {
  return (log) => {
    const nth =
      log
        .filter(({ type }) => type === "call.failed")
        .findIndex((event) => "retry_at" in event && event.retry_at !== null) + 1;
    return adds("call.failed", (event) => Array.from({ length: times - 1 }, () => event), nth)(log);
  };
}

/** The failure of a started call that is not retried. */
function loseCall({
  at,
  turn,
  attempt,
  agent,
  round,
  call,
}: EventOf<"call.started">): EventOf<"call.failed">[] {
  const cost = { usage: null, cost_usd: 0, tokens: 0 };
  return [
    {
      type: "call.failed",
      at,
      turn,
      attempt,
      agent,
      round,
      call,
      class: "quota",
      code: "",
      message: "",
      retry_at: null,
      ...cost,
    },
  ];
}
