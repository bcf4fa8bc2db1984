import { describe, expect, it } from "vitest";
import { check } from "../../checker";
import type { NumberedEvent } from "../../checker";
import type { Corruption } from "./checker-corruptions/corruptions";
import { CORRUPTIONS } from "./checker-corruptions";
import { CORRECT_LOGS } from "./checker-corruptions/correct-logs";
import { LOGS, logOf, violationsOf } from "./checker-corruptions/row";
import { readRecord, writeRecord } from "./checker-corruptions/record";

const RECORD = readRecord();

describe("the checker", () => {
  it.each([...LOGS])("finds nothing wrong with %s", (_, log) => {
    expect(check(log, { finished: true })).toEqual([]);
  });

  it.each(CORRECT_LOGS)("finds nothing wrong with $name", ({ script, corruption, outside }) => {
    expect(check(corruption(logOf(script)), { ...outside, finished: true })).toEqual([]);
  });

  // People read the violations, so a file records their exact words. To write this file again, set
  // the environment variable RECORD_VIOLATIONS=1.
  it.each(CORRUPTIONS)("notices $name and reports the recorded violations", (row) => {
    const violations = violationsOf(row);
    expect(violations.filter((sentence) => sentence.includes(` ${row.invariant}: `))).not.toEqual(
      [],
    );
    expect(violations).toEqual(RECORD.get(row.name));
  });

  it("has recorded violations for each corruption, and no other records", () => {
    if (process.env["RECORD_VIOLATIONS"])
      writeRecord(new Map(CORRUPTIONS.map((row) => [row.name, violationsOf(row)])));
    expect([...readRecord().keys()]).toEqual(CORRUPTIONS.map(({ name }) => name));
  });
});

it("the checker notices a call without a known price under a cost cap", () => {
  const log = logOf("budget").map((event) =>
    event.type === "turn.started" ? { ...event, budget: { max_cost_usd: 1_000 } } : event,
  );
  const violations = check(withoutPrices(log), { finished: true });
  const priceViolations = violations.filter(({ sentence }) => sentence.includes("no known price"));
  expect(priceViolations.map(({ invariant }) => invariant)).toContain("I11");
});

/** Removes the prices of all models. */
const withoutPrices: Corruption = (log) =>
  log.map((event) => {
    if (event.type !== "session.created") return event;
    return {
      ...event,
      rules: {
        ...event.rules,
        agents: event.rules.agents.map((agent) => ({ ...agent, price: null })),
      },
    };
  });

describe("the checker with independent records", () => {
  it("notices a provider that charged more than the logged amount", () => {
    const log = logOf("consensus-at-once");
    const ledger = [{ at: 0, turn: 1, call: "call_1_1_1_1_1_1", tokens: 1_000, usd: 9 }];
    expect(check(log, { ledger }).map(({ invariant }) => invariant)).toEqual(["I11-ledger"]);
  });

  it("notices a charge for a call that is not in the log", () => {
    const ledger = [{ at: 0, turn: 1, call: "call_unknown", tokens: 1, usd: 0 }];
    expect(check(logOf("tie"), { ledger }).map(({ invariant }) => invariant)).toEqual([
      "I11-ledger",
    ]);
  });

  it("notices work that starts after the user cancelled", () => {
    const found = check(logOf("tie"), { cancelAskedAfter: 12 }).map(({ invariant }) => invariant);
    expect(new Set(found)).toEqual(new Set(["I15"]));
  });

  /** A request for a tool call, as the tool server recorded it. */
  const READ_REQUEST = {
    turn: 1,
    attempt: 1,
    agent: "ada",
    round: 1,
    tool_call: "call_1_1_1_1_1_1_use",
    name: "read_file",
    answered: true,
  };
  const KEY = "tool_1_1_1_1_use";

  it.each([
    {
      name: "a tool call that reached its server twice",
      tools: [READ_REQUEST, READ_REQUEST],
      invariant: "I8",
    },
    {
      name: "a tool call that is not in the log",
      tools: [{ ...READ_REQUEST, tool_call: "another" }],
      invariant: "I8",
    },
    {
      name: "a repeated call under another key",
      tools: [READ_REQUEST, { ...READ_REQUEST, key: "another" }],
      invariant: "I9",
    },
    {
      name: "two calls under one key",
      tools: [READ_REQUEST, { ...READ_REQUEST, tool_call: "another" }],
      invariant: "I9",
    },
  ])("notices $name", ({ tools, invariant }) => {
    const found = check(logOf("single-agent"), {
      tools: tools.map((call) => ({ key: KEY, ...call })),
      finished: true,
    });
    expect(found.map((violation) => violation.invariant)).toContain(invariant);
  });

  describe("for a tool call with an unknown outcome", () => {
    const log = logOf("single-agent").map((event): NumberedEvent => {
      if (event.type !== "tool.completed") return event;
      const { outcome: _, ...rest } = event;
      return { ...rest, type: "tool.unknown" };
    });
    const started = log.find(({ type }) => type === "tool.started")?.sequence_number ?? 0;

    it.each([
      {
        name: "reports a violation if the tool server has responded",
        answered: true,
        diedAfter: [],
        wrong: ["I8-unknown"],
      },
      {
        name: "reports a violation if the process crashed before the call started",
        answered: true,
        diedAfter: [started - 1],
        wrong: ["I8-unknown"],
      },
      {
        name: "reports nothing if the process crashed during the call",
        answered: true,
        diedAfter: [started],
        wrong: [],
      },
      {
        name: "reports nothing if the response of the tool server was lost",
        answered: false,
        diedAfter: [],
        wrong: [],
      },
    ])("$name", ({ answered, diedAfter, wrong }) => {
      const tools = [{ ...READ_REQUEST, key: KEY, answered }];
      expect(
        check(log, { tools, diedAfter, finished: true }).map(({ invariant }) => invariant),
      ).toEqual(wrong);
    });
  });

  it("notices a snapshot of an unchanged workspace, and an answer whose snapshot is missing", () => {
    const log = logOf("improved-answer-with-injection").map((event) => withWorkspace(event));
    const answers = log.flatMap((event) => (event.type === "answer.submitted" ? [event] : []));
    /**
     * The facts of each answer's workspace. Answers with this end of their label changed no file.
     */
    const workspacesUnchangedIn = (labelEnd: string) =>
      new Map(
        answers.map((one) => [
          one.sequence_number,
          { files: 3, changed: !one.label.endsWith(labelEnd) },
        ]),
      );
    for (const files of [workspacesUnchangedIn(".1"), workspacesUnchangedIn(".2")])
      expect(new Set(check(log, { files }).map(({ invariant }) => invariant))).toEqual(
        new Set(["I10"]),
      );
    const withoutSnapshots = log.map((event) =>
      event.type === "answer.submitted" ? { ...event, snapshot: null } : event,
    );
    expect(check(withoutSnapshots).map(({ invariant }) => invariant)).toContain("I10");
  });
});

/** Gives every agent a workspace and every answer its own snapshot. */
function withWorkspace(event: NumberedEvent): NumberedEvent {
  if (event.type === "answer.submitted")
    return { ...event, snapshot: event.label, files: "workspace" };
  if (event.type === "presentation.started") return { ...event, workspace: event.label };
  if (event.type !== "session.created") return event;
  return {
    ...event,
    rules: {
      ...event.rules,
      agents: event.rules.agents.map((agent) => ({ ...agent, workspace: true })),
    },
  };
}
