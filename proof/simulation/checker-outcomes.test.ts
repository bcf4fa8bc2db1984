import { describe, expect, it } from "vitest";
import type { EventOf } from "../../src/protocol/events";
import type { TeamRules } from "../../src/protocol/team";
import { check } from "../../checker";
import type { NumberedEvent, Outside } from "../../checker";
import { adds, all, changes, hides, type Corruption } from "./checker-corruptions/corruptions";
import { play } from "./world/scripted-world";
import { SCRIPTS } from "./world/scripts";

function logOf(name: string): NumberedEvent[] {
  const script = SCRIPTS[name];
  if (!script) throw new Error(`no script ${name}`);
  return play(script).log;
}

/** A log that violates one rule about the end of a turn, a waiting call or a retry. */
type Row = {
  name: string;
  script: string;
  corruption?: Corruption;
  outside?: Outside;
  /** The violation that the checker must report. */
  wrong: string;
};

/** Cuts the log after the first event of a type and appends the turn's failure. */
function failsAfter(
  type: NumberedEvent["type"],
  change: Partial<EventOf<"turn.failed">> = {},
): Corruption {
  return (log) => {
    const kept = log.slice(0, log.findIndex((event) => event.type === type) + 1);
    const created = log[0];
    const agents = created?.type === "session.created" ? created.rules.agents : [];
    const failure: NumberedEvent = {
      ...{
        type: "turn.failed",
        sequence_number: kept.length + 1,
        at: kept.at(-1)?.at ?? 0,
        turn: 1,
        code: "no_answer",
      },
      ...{
        message: "",
        usage: { input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 },
        cost_usd: 0,
      },
      agents: agents.map(({ id }) => ({ agent: id, code: "", message: "" })),
      ...change,
    };
    return [...kept, failure];
  };
}

/** Adds text that an agent streams during the nth call. */
const streamsText = (text: string, nth = 1): Corruption =>
  adds(
    "call.started",
    ({ at, turn, agent, round, call }) => [
      {
        type: "stream.delta",
        at,
        turn,
        items: [{ agent, round, call, kind: "text", offset: 0, text }],
      },
    ],
    nth,
  );

const ENDS: Row[] = [
  {
    name: "although there is an answer",
    script: "consensus-at-once",
    corruption: failsAfter("attempt.settled"),
    wrong: "failed: the turn failed although there is an answer",
  },
  {
    name: "although an answer has won",
    script: "nobody-answers",
    corruption: changes("attempt.settled", { winner: "ada", label: "agent1.1" }),
    wrong: "failed: the turn failed although an answer has won",
  },
  {
    name: "although an agent has written something",
    script: "nobody-answers",
    corruption: streamsText("Go by the"),
    wrong: "failed: the turn failed although an agent has written something",
  },
  {
    name: "before its coordination was over",
    script: "nobody-answers",
    corruption: hides("attempt.settled"),
    wrong: "failed: the turn failed before its coordination was over",
  },
  {
    name: "that does not give the reason of each agent",
    script: "nobody-answers",
    corruption: changes("turn.failed", { agents: [] }),
    wrong: "failed: the failed turn does not give the reason of each agent",
  },
  {
    name: "for an unknown reason",
    script: "nobody-answers",
    corruption: changes("turn.failed", { code: "tired" }),
    wrong: "failed: the turn failed with tired",
  },
];

/** A cancelled turn. `sequenceNumbers`: the last events before the user's requests to cancel. */
const cancelRequestedAfter = (name: string, ...sequenceNumbers: number[]): Row => ({
  name,
  script: "cancel",
  outside: { cancelsAsked: sequenceNumbers },
  wrong: "I15: the turn was cancelled without a request",
});

const CANCELS: Row[] = [
  cancelRequestedAfter("if the user never cancelled"),
  cancelRequestedAfter("if the user cancelled only before the turn began", 1),
  cancelRequestedAfter("if the user cancelled only after the end of the turn", 500),
];

const WITHOUT_CAP = changes("turn.started", { budget: {} });
const WITH_LARGE_CAP = changes("turn.started", { budget: { max_tokens: 30_000 } });
const WITH_SHORT_CALL = changes("call.deferred", { input_tokens: 9_000 }, 2);

const WAITING_CALLS: Row[] = [
  {
    name: "a call deferred in a turn without a cap",
    script: "budget",
    corruption: WITHOUT_CAP,
    wrong: "deferrals: call_1_1_1_2_1_1 was deferred although the turn has no cap",
  },
  {
    name: "a call deferred although the budget covers it and any presentation",
    script: "budget",
    corruption: WITH_LARGE_CAP,
    wrong: "deferrals: call_1_1_1_2_1_1 was deferred although the turn can pay for it",
  },
  {
    name: "an end by budget without a cap",
    script: "budget",
    corruption: WITHOUT_CAP,
    wrong: "I6: ended by budget although the turn has no cap",
  },
  {
    name: "an end by budget although the waiting call can be paid",
    script: "budget",
    corruption: WITH_LARGE_CAP,
    wrong: "I6: ended by budget although no call waits for it",
  },
  {
    name: "an end by budget although one of two agents can continue",
    script: "budget",
    corruption: hides("call.deferred"),
    wrong: "I6: ended by budget although an agent can continue",
  },
  {
    name: "an end by budget although one of two waiting calls can be paid",
    script: "budget",
    corruption: all(changes("turn.started", { budget: { max_tokens: 20_000 } }), WITH_SHORT_CALL),
    wrong: "I6: ended by budget although an agent can continue",
  },
  {
    name: "an end by budget with a call in flight",
    script: "deadline",
    corruption: changes("attempt.settled", { ended_by: "budget" }),
    wrong: "I6: ended by budget with calls in flight",
  },
];

/** Changes the team's rules. */
const withRules = (change: Partial<TeamRules>): Corruption => {
  return (log) =>
    log.map((event) =>
      event.type === "session.created" ? { ...event, rules: { ...event.rules, ...change } } : event,
    );
};

/** Adds that an agent abstains after its first answer. */
const ADDS_ABSTENTION = adds("answer.submitted", ({ at, turn, attempt, agent }) => [
  { type: "agent.abstained", at, turn, attempt, agent, code: "tired", message: "" },
]);

const LOST_ROUNDS_AND_AGENTS: Row[] = [
  {
    name: "a round that fails although its call is retried",
    script: "nobody-answers",
    corruption: changes("call.failed", { retry_at: 1_790_000_009_000 }),
    wrong: "leaving: a round failed without a loss",
  },
  {
    name: "an agent that fails without a reason",
    script: "agent-failing",
    corruption: hides("call.failed"),
    wrong: "leaving: an agent failed without a loss",
  },
  {
    name: "a partial text of an agent that may continue",
    script: "consensus-at-once",
    corruption: changes("answer.submitted", { origin: "partial" }),
    wrong: "leaving: a partial text became an answer although its author may continue",
  },
  {
    name: "an agent that abstains with calls left",
    script: "consensus-at-once",
    corruption: ADDS_ABSTENTION,
    wrong: "leaving: an agent abstained although it is at no limit",
  },
  {
    name: "a first round that continues after its time",
    script: "consensus-at-once",
    corruption: withRules({ initial_round_timeout_ms: 0 }),
    wrong: "leaving: call.started after the time of the round",
  },
  {
    name: "a winner that was not called to present",
    script: "consensus-at-once",
    corruption: all(
      hides("call.started", 7),
      hides("call.completed", 7),
      changes("presentation.completed", { source: "answer" }),
    ),
    wrong: "fallbacks: the winner did not present although it could",
  },
  {
    name: "a turn that ends before its winner has presented",
    script: "consensus-at-once",
    corruption: failsAfter("presentation.started"),
    wrong: "fallbacks: the winner did not present although it could",
  },
  {
    name: "a final text that is not judged although another attempt may follow",
    script: "consensus-at-once",
    corruption: withRules({ max_orchestration_restarts: 1 }),
    wrong: "presentation: a final text was not judged although another attempt may follow",
  },
  {
    name: "a coordination call that uses the presentation's reserve",
    script: "consensus-at-once",
    corruption: changes("turn.started", { budget: { max_tokens: 18_400 } }),
    wrong: "deferrals: call_1_1_3_2_1_1 leaves nothing for a presentation",
  },
];

/** The provider asked for this delay before the call's next try. */
const retryDelay = (ms: number): Outside => ({ waitsAsked: new Map([["call_1_1_2_1_1_1", ms]]) });

const RETRIES: Row[] = [
  {
    name: "a transient failure that costs the round at once",
    script: "agent-failing",
    corruption: changes("call.failed", { retry_at: null }, 2),
    outside: retryDelay(0),
    wrong: "tries: a call was not retried although tries are left",
  },
  {
    name: "a retry sooner than the provider asked for",
    script: "agent-failing",
    outside: retryDelay(5_000),
    wrong: "tries: retried sooner than the 5000 ms its provider asked for",
  },
  {
    name: "a retry although the provider asked for too long a delay",
    script: "agent-failing",
    outside: retryDelay(60_001),
    wrong: "tries: retried although its provider asked for 60001 ms",
  },
  {
    name: "a lost call whose round continues",
    script: "nobody-answers",
    corruption: hides("round.failed"),
    wrong: "tries: a lost call of coordination is followed by round.started",
  },
  {
    name: "a bad first request that costs only the round",
    script: "nobody-answers",
    corruption: changes("call.failed", { class: "bad_request" }),
    wrong: "failures: after bad_request the agent continues",
  },
  {
    name: "an exhausted quota that costs the agent",
    script: "nobody-answers",
    corruption: changes("call.failed", { class: "quota" }, 2),
    wrong: "failures: the agent failed for quota, which costs only the round",
  },
];

const violationsOf = ({ script, corruption, outside }: Omit<Row, "name" | "wrong">): string[] =>
  check(corruption?.(logOf(script)) ?? logOf(script), { ...outside, finished: true }).map(
    ({ invariant, sentence }) => `${invariant}: ${sentence}`,
  );

describe("the checker, for a turn that fails", () => {
  it.each(ENDS)("notices a failure $name", (row) => {
    expect(violationsOf(row)).toContain(row.wrong);
  });

  it("accepts a failure although agents streamed only blanks, or text for personas", () => {
    expect(violationsOf({ script: "nobody-answers", corruption: streamsText(" \n") })).toEqual([]);
    const personas = changes("round.started", { purpose: "personas" });
    const wrong = violationsOf({
      script: "nobody-answers",
      corruption: all(personas, streamsText("You look at maps.")),
    });
    expect(wrong).not.toContain("failed: the turn failed although an agent has written something");
  });
});

describe("the checker, if an agent only streamed text in the attempt after a rejected one", () => {
  const script = "restart-attempt";
  const withCallLimit: Corruption = (log) =>
    log.map((event) =>
      event.type === "session.created"
        ? { ...event, rules: { ...event.rules, max_calls_per_round: 200 } }
        : event,
    );
  const withoutAnswer = all(withCallLimit, hides("answer.submitted", 4), streamsText("so far", 8));
  const lost = "kept: the text of bela is lost";

  it("notices the lost text if another agent has answered", () => {
    expect(violationsOf({ script, corruption: withoutAnswer })).toContain(lost);
  });

  it("accepts the earlier final text if no agent has answered", () => {
    expect(
      violationsOf({
        script,
        corruption: all(withoutAnswer, hides("answer.submitted", 3)),
      }),
    ).not.toContain(lost);
  });
});

describe("the checker, for a cancelled turn", () => {
  it.each(CANCELS)("notices that a request is missing $name", (row) => {
    expect(violationsOf(row)).toEqual([row.wrong]);
  });

  it("accepts a log without a record of requests, and a turn that the user cancelled", () => {
    const log = logOf("cancel");
    const before = (log.find(({ type }) => type === "turn.cancelled")?.sequence_number ?? 0) - 1;
    expect(check(log, { finished: true })).toEqual([]);
    expect(check(log, { cancelsAsked: [before], finished: true })).toEqual([]);
  });
});

describe("the checker notices", () => {
  it.each([...WAITING_CALLS, ...LOST_ROUNDS_AND_AGENTS, ...RETRIES])("$name", (row) => {
    expect(violationsOf(row)).toContain(row.wrong);
  });

  it("nothing wrong if a call is not retried because its provider asked for too long a delay", () => {
    const corruption = changes("call.failed", { retry_at: null }, 2);
    const wrong = violationsOf({
      script: "agent-failing",
      corruption,
      outside: retryDelay(60_001),
    });
    expect(wrong).not.toContain("tries: a call was not retried although tries are left");
  });
});

describe("the checker compares the providers' charges with the log and", () => {
  const CALL = "call_1_1_1_1_1_1";
  const entry = (call: string, tokens: number, turn = 1) => ({ at: 0, turn, call, tokens, usd: 0 });
  const invariants = (ledger: NonNullable<Outside["ledger"]>): string[] =>
    check(logOf("tie"), { ledger, finished: true }).map(({ invariant }) => invariant);

  it.each([
    { name: "accepts a call that was charged once", ledger: [entry(CALL, 1_000)], wrong: [] },
    {
      name: "accepts a call that was charged in parts",
      ledger: [entry(CALL, 400), entry(CALL, 600)],
      wrong: [],
    },
    {
      name: "notices a call that was sent twice and charged twice",
      ledger: [entry(CALL, 1_000), entry(CALL, 1_000)],
      wrong: ["I11-ledger"],
    },
    {
      name: "notices a call of a turn that does not exist",
      ledger: [entry("call_7_1_1_1_1_1", 1, 7)],
      wrong: ["I11-ledger"],
    },
    {
      name: "notices a call without a turn",
      ledger: [entry("call_unknown", 1, 0)],
      wrong: ["I11-ledger"],
    },
  ])("$name", ({ ledger, wrong }) => {
    expect(invariants(ledger)).toEqual(wrong);
  });
});
