import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { newRecord } from "../../simulated/providers/ledger";
import { type WireEvent, WireEventSchema } from "../../src/protocol/events";
import { CHAT_MARKS } from "../../tests/contracts/faults/oracle";
import { answerProblems, faultsNamed, isMutatedCharge, mutatedAnswer } from "./fault-verdict";
import { undercharged } from "../../tests/e2e/support/verdict";

/** A recorded run in which `bela` is the faulty agent, whose model answers GIVEN. */
const GIVEN = "Go by the ridge.";
const RECORDED = path.join(import.meta.dirname, "../golden/v2/consensus-at-once.jsonl");
const EVENTS: readonly WireEvent[] = readFileSync(RECORDED, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => WireEventSchema.parse({ ...JSON.parse(line), session_id: "ses_1" }));

type AnswerText = { content: string; origin?: "tool" | "partial" };

/** The log with another answer of the faulty agent. */
function logWith({ content, origin = "tool" }: AnswerText): WireEvent[] {
  return EVENTS.map((event) =>
    event.type === "answer.submitted" && event.agent === "bela"
      ? { ...event, content, origin }
      : event,
  );
}

const problemsWith = (submitted: AnswerText, isWhole: (content: string) => boolean): string[] =>
  answerProblems(logWith(submitted), "bela", isWhole);

describe("for a reply whose complete answer is known", () => {
  const isWhole = (content: string) => content === GIVEN;

  it("that answer is accepted, and other agents' answers are ignored", () => {
    expect(problemsWith({ content: GIVEN }, isWhole)).toEqual([]);
  });

  it.each([
    { name: "its beginning", submitted: { content: "Go by the ri" } },
    { name: "only its first letter", submitted: { content: "G" } },
    { name: "its end", submitted: { content: "ridge." } },
    { name: "another text", submitted: { content: "Go home." } },
    { name: "the JSON that contains it", submitted: { content: `{"content":"${GIVEN}` } },
  ])("$name as an answer is a problem", ({ submitted }) => {
    const said = `its answer agent2.1 is ${JSON.stringify(submitted.content)}, which is not a complete answer of its model`;
    expect(problemsWith(submitted, isWhole)).toEqual([said]);
  });

  it("its partial text is a problem: neither time nor tries ran out", () => {
    expect(problemsWith({ content: GIVEN, origin: "partial" }, isWhole)).toEqual([
      "its partial text became its answer agent2.1",
    ]);
  });
});

describe("for a mutated reply", () => {
  const chunk = (choice: object) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`;
  const begun = chunk({ delta: { content: "…" } });
  const ENDED = Buffer.from(begun + chunk({ delta: {}, finish_reason: "tool_calls" }));
  const CUT = Buffer.from(begun);
  const BROKEN = Buffer.from(
    `${begun}data: oops\n\n${chunk({ delta: {}, finish_reason: "stop" })}`,
  );

  it.each([
    {
      name: "the model's own text is complete, because a later call repeats it",
      content: GIVEN,
      bytes: CUT,
      whole: true,
    },
    {
      name: "a changed text is complete if the bytes contain an end",
      content: "Go by the rid\u0000e.",
      bytes: ENDED,
      whole: true,
    },
    {
      name: "a changed text is not complete without an end in the bytes",
      content: "Go by the rid\u0000e.",
      bytes: CUT,
      whole: false,
    },
    {
      name: "nor if an event before the end is not JSON",
      content: "Go by the rid\u0000e.",
      bytes: BROKEN,
      whole: false,
    },
    { name: "nor if there was no such reply", content: "Go home.", bytes: undefined, whole: false },
    {
      name: "a prefix is not complete, with any bytes",
      content: "Go by the",
      bytes: ENDED,
      whole: false,
    },
    { name: "nor a prefix followed by a space", content: "Go by the ", bytes: ENDED, whole: false },
    {
      name: "nor a prefix that ends in half a character",
      content: "Go by the ri\uFFFD",
      bytes: ENDED,
      whole: false,
    },
  ])("$name", ({ content, bytes, whole }) => {
    const isWhole = mutatedAnswer({ said: GIVEN, bytes, marks: CHAT_MARKS });
    expect(problemsWith({ content }, isWhole)).toHaveLength(whole ? 0 : 1);
  });
});

/** The problems if a provider charged this many tokens for a model, in this many requests. */
function ledgerOf(
  model: string,
  { inputTokens, times }: { inputTokens: number; times: number },
): string[] {
  const record = newRecord({
    id: 1,
    format: "openai-chat",
    model,
    path: "/",
    headers: {},
    body: {},
    startedAt: 1,
  });
  const request = {
    ...record,
    endedAt: 2,
    outcome: "completed" as const,
    reported: { inputTokens, outputTokens: 0 },
  };
  return undercharged(
    EVENTS,
    Array.from({ length: times }, () => request),
  );
}

describe("if the reported usage is mutated, too", () => {
  it.each([
    {
      name: "a charge beyond the log's is ignored",
      ...{ model: "model-2", inputTokens: 90_000, times: 1 },
      left: 0,
    },
    {
      name: "a charge of another model is not",
      ...{ model: "model-1", inputTokens: 90_000, times: 1 },
      left: 2,
    },
    {
      name: "nor is a request that is not in the log",
      ...{ model: "model-2", inputTokens: 0, times: 90 },
      left: 1,
    },
  ])("$name", ({ model, left, ...charged }) => {
    const problems = ledgerOf(model, charged);
    expect(problems).not.toEqual([]);
    expect(problems.filter((problem) => !isMutatedCharge(problem, "model-2"))).toHaveLength(left);
  });
});

describe("the selected faults are", () => {
  const rows = ["429 always", "429 without a wait", "stop: unknown", "stop: unknown"].map(
    (fault) => ({ fault }),
  );

  it.each([
    { name: "those whose names contain the text", part: "429", found: 2 },
    { name: "all faults with the same name", part: "stop", found: 2 },
    { name: "all faults for an empty text", part: "", found: 4 },
  ])("$name", ({ part, found }) => {
    expect(faultsNamed(rows, part)).toHaveLength(found);
  });

  it("refused if no name contains the text, with a list of the names", () => {
    const said =
      'There is no fault "typo". There are:\n429 always\n429 without a wait\nstop: unknown';
    expect(() => faultsNamed(rows, "typo")).toThrow(new Error(said));
  });
});
