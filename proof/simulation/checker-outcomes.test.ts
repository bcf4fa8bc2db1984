import { describe, expect, it } from "vitest";
import type { EventOf } from "../../src/protocol/events";
import type { TeamRules } from "../../src/protocol/team";
import { check } from "../../checker";
import type { NumberedEvent, Outside } from "../../checker";
import { adds, all, changes, hides, type Corruption } from "./checker-corruptions/corruptions";
import { play } from "./world/scripted-world";
import { SCRIPTS } from "./world/scripts";

/** Ends of turns, waiting calls and retries: each corruption violates one rule of the protocol. */

function logOf(name: string): NumberedEvent[] {
  const script = SCRIPTS[name];
  if (!script) throw new Error(`no script ${name}`);
  return play(script).log;
}

type Row = {
  name: string;
  script: string;
  corruption?: Corruption;
  outside?: Outside;
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
    const failed: NumberedEvent = {
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
    return [...kept, failed];
  };
}

/** Adds text that an agent streams during the nth call. */
const writes = (text: string, nth = 1): Corruption =>
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
    corruption: writes("Go by the"),
    wrong: "failed: the turn failed although an agent has written something",
  },
  {
    name: "before its coordination was over",
    script: "nobody-answers",
    corruption: hides("attempt.settled"),
    wrong: "failed: the turn failed before its coordination was over",
  },
  {
    name: "without each agent's reason",
    script: "nobody-answers",
    corruption: changes("turn.failed", { agents: [] }),
    wrong: "failed: the turn failed without each agent's reason",
  },
  {
    name: "for an unknown reason",
    script: "nobody-answers",
    corruption: changes("turn.failed", { code: "tired" }),
    wrong: "failed: the turn failed with tired",
  },
];

const UNASKED = "I15: the turn was cancelled without a request";

const cancelsAsked = (name: string, ...places: number[]): Row => ({
  name,
  script: "cancel",
  outside: { cancelsAsked: places },
  wrong: UNASKED,
});

const CANCELS: Row[] = [
  cancelsAsked("never"),
  cancelsAsked("before the turn began", 1),
  cancelsAsked("after its end", 500),
];

const UNCAPPED = changes("turn.started", { budget: {} });
const WIDE = changes("turn.started", { budget: { max_tokens: 30_000 } });
const SHORT = changes("call.deferred", { input_tokens: 9_000 }, 2);

const WAITS: Row[] = [
  {
    name: "a call deferred in a turn without a cap",
    script: "budget",
    corruption: UNCAPPED,
    wrong: "deferrals: call_1_1_1_2_1_1 was deferred although the turn has no cap",
  },
  {
    name: "a call deferred although the budget covers it and any presentation",
    script: "budget",
    corruption: WIDE,
    wrong: "deferrals: call_1_1_1_2_1_1 was deferred although the turn can pay for it",
  },
  {
    name: "an end by budget without a cap",
    script: "budget",
    corruption: UNCAPPED,
    wrong: "I6: ended by budget although the turn has no cap",
  },
  {
    name: "an end by budget although the waiting call can be paid",
    script: "budget",
    corruption: WIDE,
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
    corruption: all(changes("turn.started", { budget: { max_tokens: 20_000 } }), SHORT),
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

const abstains = adds("answer.submitted", ({ at, turn, attempt, agent }) => [
  { type: "agent.abstained", at, turn, attempt, agent, code: "tired", message: "" },
]);

const LEAVES: Row[] = [
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
    corruption: abstains,
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

const asked = (ms: number): Outside => ({ waitsAsked: new Map([["call_1_1_2_1_1_1", ms]]) });

const TRIES: Row[] = [
  {
    name: "a transient failure that costs the round at once",
    script: "agent-failing",
    corruption: changes("call.failed", { retry_at: null }, 2),
    outside: asked(0),
    wrong: "tries: a call was not retried although tries are left",
  },
  {
    name: "a retry sooner than the provider asked for",
    script: "agent-failing",
    outside: asked(5_000),
    wrong: "tries: retried sooner than the 5000 ms its provider asked for",
  },
  {
    name: "a retry although the provider asked for too long a delay",
    script: "agent-failing",
    outside: asked(60_001),
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

const found = ({ script, corruption = (log) => [...log], outside = {} }: Row): string[] =>
  check(corruption(logOf(script)), { ...outside, finished: true }).map(
    ({ invariant, sentence }) => `${invariant}: ${sentence}`,
  );

describe("the checker notices a turn that fails", () => {
  it.each(ENDS)("$name", (row) => {
    expect(found(row)).toContain(row.wrong);
  });

  it("accepts streamed blanks and streamed text for personas", () => {
    expect(
      found({ name: "", script: "nobody-answers", corruption: writes(" \n"), wrong: "" }),
    ).toEqual([]);
    const personas = changes("round.started", { purpose: "personas" });
    const wrong = found({
      name: "",
      script: "nobody-answers",
      corruption: all(personas, writes("You look at maps.")),
      wrong: "",
    });
    expect(wrong).not.toContain("failed: the turn failed although an agent has written something");
  });
});

describe("the checker, if an agent wrote text but has no answer in an attempt after a rejected one", () => {
  const script = "restart-attempt";
  const current: Corruption = (log) =>
    log.map((event) =>
      event.type === "session.created"
        ? { ...event, rules: { ...event.rules, max_calls_per_round: 200 } }
        : event,
    );
  const silent = all(current, hides("answer.submitted", 4), writes("so far", 8));
  const lost = "kept: the text of bela is lost";

  it("notices the lost text if another agent has answered", () => {
    expect(found({ name: "", script, corruption: silent, wrong: lost })).toContain(lost);
  });

  it("accepts the earlier final text if no agent has answered", () => {
    expect(
      found({
        name: "",
        script,
        corruption: all(silent, hides("answer.submitted", 3)),
        wrong: lost,
      }),
    ).not.toContain(lost);
  });
});

describe("the checker notices a turn cancelled without a request", () => {
  it.each(CANCELS)("$name", (row) => {
    expect(found(row)).toEqual([row.wrong]);
  });

  it("and accepts a log without a record of requests, and a turn that was cancelled on request", () => {
    const log = logOf("cancel");
    const before = (log.find(({ type }) => type === "turn.cancelled")?.sequence_number ?? 0) - 1;
    expect(check(log, { finished: true })).toEqual([]);
    expect(check(log, { cancelsAsked: [before], finished: true })).toEqual([]);
  });
});

describe("the checker notices", () => {
  it.each([...WAITS, ...LEAVES, ...TRIES])("$name", (row) => {
    expect(found(row)).toContain(row.wrong);
  });

  it("nothing in a call that is not retried because its provider asked for too long a delay", () => {
    const corruption = all(changes("call.failed", { retry_at: null }, 2));
    const wrong = found({
      name: "",
      script: "agent-failing",
      corruption,
      outside: asked(60_001),
      wrong: "",
    });
    expect(wrong).not.toContain("tries: a call was not retried although tries are left");
  });
});

describe("the checker compares what providers charged with the log", () => {
  const CALL = "call_1_1_1_1_1_1";
  const entry = (call: string, tokens: number, turn = 1) => ({ at: 0, turn, call, tokens, usd: 0 });
  const invariants = (ledger: NonNullable<Outside["ledger"]>): string[] =>
    check(logOf("tie"), { ledger, finished: true }).map(({ invariant }) => invariant);

  it.each([
    { name: "a call that was charged once", ledger: [entry(CALL, 1_000)], wrong: [] },
    { name: "a call charged in parts", ledger: [entry(CALL, 400), entry(CALL, 600)], wrong: [] },
    {
      name: "a call sent twice and charged twice",
      ledger: [entry(CALL, 1_000), entry(CALL, 1_000)],
      wrong: ["I11-ledger"],
    },
    {
      name: "a call of a turn that does not exist",
      ledger: [entry("call_7_1_1_1_1_1", 1, 7)],
      wrong: ["I11-ledger"],
    },
    {
      name: "a call without a turn",
      ledger: [entry("call_unknown", 1, 0)],
      wrong: ["I11-ledger"],
    },
  ])("$name", ({ ledger, wrong }) => {
    expect(invariants(ledger)).toEqual(wrong);
  });
});
