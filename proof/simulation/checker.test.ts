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

  // Violations are for people, so they are recorded word for word in a readable file.
  // RECORD_VIOLATIONS=1 writes the file.
  it.each(CORRUPTIONS)("notices $name and reports the recorded violations", (row) => {
    const violations = violationsOf(row);
    expect(violations.filter((sentence) => sentence.includes(` ${row.invariant}: `))).not.toEqual(
      [],
    );
    expect(violations).toEqual(RECORD.get(row.name));
  });

  it("has a record of these corruptions and of no others", () => {
    if (process.env["RECORD_VIOLATIONS"])
      writeRecord(new Map(CORRUPTIONS.map((row) => [row.name, violationsOf(row)])));
    expect([...readRecord().keys()]).toEqual(CORRUPTIONS.map(({ name }) => name));
  });
});

it("the checker notices a call without a known price under a cost cap", () => {
  const log = logOf("budget").map((event) =>
    event.type === "turn.started" ? { ...event, budget: { max_cost_usd: 1_000 } } : event,
  );
  const found = check(unpriced(log), { finished: true }).filter(({ sentence }) =>
    sentence.includes("no known price"),
  );
  expect(found.map(({ invariant }) => invariant)).toContain("I11");
});

/** Removes the prices of all models. */
const unpriced: Corruption = (log) =>
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

  const READS = {
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
    { name: "a tool call that reached its server twice", tools: [READS, READS], invariant: "I8" },
    {
      name: "a tool call that is not in the log",
      tools: [{ ...READS, tool_call: "another" }],
      invariant: "I8",
    },
    {
      name: "a repeated call under another key",
      tools: [READS, { ...READS, key: "another" }],
      invariant: "I9",
    },
    {
      name: "two calls under one key",
      tools: [READS, { ...READS, tool_call: "another" }],
      invariant: "I9",
    },
  ])("notices $name", ({ tools, invariant }) => {
    const found = check(logOf("single-agent"), {
      tools: tools.map((call) => ({ key: KEY, ...call })),
      finished: true,
    });
    expect(found.map((violation) => violation.invariant)).toContain(invariant);
  });

  describe("a tool call with an unknown outcome", () => {
    const log = logOf("single-agent").map((event): NumberedEvent => {
      if (event.type !== "tool.completed") return event;
      const { outcome: _, ...rest } = event;
      return { ...rest, type: "tool.unknown" };
    });
    const started = log.find(({ type }) => type === "tool.started")?.sequence_number ?? 0;

    it.each([
      {
        name: "is a violation if its server has responded",
        answered: true,
        diedAfter: [],
        wrong: ["I8-unknown"],
      },
      {
        name: "is a violation if the process died before the call started",
        answered: true,
        diedAfter: [started - 1],
        wrong: ["I8-unknown"],
      },
      {
        name: "is correct if the process died during the call",
        answered: true,
        diedAfter: [started],
        wrong: [],
      },
      {
        name: "is correct if its server's response was lost",
        answered: false,
        diedAfter: [],
        wrong: [],
      },
    ])("$name", ({ answered, diedAfter, wrong }) => {
      const tools = [{ ...READS, key: KEY, answered }];
      expect(
        check(log, { tools, diedAfter, finished: true }).map(({ invariant }) => invariant),
      ).toEqual(wrong);
    });
  });

  it("notices an unchanged workspace instead of a snapshot, and a lost snapshot", () => {
    const log = logOf("improved-answer-with-injection").map((event) => withWorkspace(event));
    const answers = log.flatMap((event) => (event.type === "answer.submitted" ? [event] : []));
    const leaving = (none: string) =>
      new Map(
        answers.map((one) => [
          one.sequence_number,
          { files: 3, changed: !one.label.endsWith(none) },
        ]),
      );
    for (const files of [leaving(".1"), leaving(".2")])
      expect(new Set(check(log, { files }).map(({ invariant }) => invariant))).toEqual(
        new Set(["I10"]),
      );
    const lost = log.map((event) =>
      event.type === "answer.submitted" ? { ...event, snapshot: null } : event,
    );
    expect(check(lost).map(({ invariant }) => invariant)).toContain("I10");
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
