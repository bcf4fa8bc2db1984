import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { newRecord } from "../../simulated/providers/ledger";
import { type WireEvent, WireEventSchema } from "../../src/protocol/events";
import { CHAT_MARKS } from "../../tests/contracts/faults/oracle";
import { answerProblems, faultsNamed, isMutatedCharge, mutatedAnswerCheck } from "./fault-verdict";
import { undercharged } from "../../tests/e2e/support/verdict";

/** The answer of the faulty agent's model. In the recorded run, `bela` is the faulty agent. */
const MODEL_ANSWER = "Go by the ridge.";
const RECORDED_LOG = path.join(import.meta.dirname, "../golden/v2/consensus-at-once.jsonl");
const EVENTS: readonly WireEvent[] = readFileSync(RECORDED_LOG, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => WireEventSchema.parse({ ...JSON.parse(line), session_id: "ses_1" }));

type AnswerText = { content: string; origin?: "tool" | "partial" };

/** Returns the log with another answer of the faulty agent. */
function logWith({ content, origin = "tool" }: AnswerText): WireEvent[] {
  return EVENTS.map((event) =>
    event.type === "answer.submitted" && event.agent === "bela"
      ? { ...event, content, origin }
      : event,
  );
}

const problemsWith = (submitted: AnswerText, isComplete: (content: string) => boolean): string[] =>
  answerProblems(logWith(submitted), "bela", isComplete);

describe("for a reply whose complete answer is known", () => {
  const isComplete = (content: string) => content === MODEL_ANSWER;

  it("that answer is accepted, and other agents' answers are ignored", () => {
    expect(problemsWith({ content: MODEL_ANSWER }, isComplete)).toEqual([]);
  });

  it.each([
    { name: "the beginning of that answer", submitted: { content: "Go by the ri" } },
    { name: "the first letter of that answer", submitted: { content: "G" } },
    { name: "the end of that answer", submitted: { content: "ridge." } },
    { name: "another text", submitted: { content: "Go home." } },
    {
      name: "JSON that contains that answer",
      submitted: { content: `{"content":"${MODEL_ANSWER}` },
    },
  ])("$name is not accepted", ({ submitted }) => {
    const expectedMessage = `its answer agent2.1 is ${JSON.stringify(submitted.content)}, which is not a complete answer of its model`;
    expect(problemsWith(submitted, isComplete)).toEqual([expectedMessage]);
  });

  it("a partial text is not accepted, because neither time nor tries ran out", () => {
    expect(problemsWith({ content: MODEL_ANSWER, origin: "partial" }, isComplete)).toEqual([
      "its partial text became its answer agent2.1",
    ]);
  });
});

describe("for a mutated reply", () => {
  const chunk = (choice: object) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`;
  const firstChunk = chunk({ delta: { content: "…" } });
  const ENDED_REPLY = Buffer.from(firstChunk + chunk({ delta: {}, finish_reason: "tool_calls" }));
  const CUT_REPLY = Buffer.from(firstChunk);
  const INVALID_REPLY = Buffer.from(
    `${firstChunk}data: oops\n\n${chunk({ delta: {}, finish_reason: "stop" })}`,
  );

  it.each([
    {
      name: "the model's own text is complete, because a later call repeats it",
      content: MODEL_ANSWER,
      bytes: CUT_REPLY,
      isAccepted: true,
    },
    {
      name: "a changed text is complete if the bytes contain an end",
      content: "Go by the rid\u0000e.",
      bytes: ENDED_REPLY,
      isAccepted: true,
    },
    {
      name: "a changed text is not complete without an end in the bytes",
      content: "Go by the rid\u0000e.",
      bytes: CUT_REPLY,
      isAccepted: false,
    },
    {
      name: "a changed text is not complete if an event before the end is not JSON",
      content: "Go by the rid\u0000e.",
      bytes: INVALID_REPLY,
      isAccepted: false,
    },
    {
      name: "another text is not complete if there was no mutated reply",
      content: "Go home.",
      bytes: undefined,
      isAccepted: false,
    },
    {
      name: "a prefix is not complete, even if the bytes contain an end",
      content: "Go by the",
      bytes: ENDED_REPLY,
      isAccepted: false,
    },
    {
      name: "a prefix that ends with a space is not complete",
      content: "Go by the ",
      bytes: ENDED_REPLY,
      isAccepted: false,
    },
    {
      name: "a prefix that ends in half a character is not complete",
      content: "Go by the ri\uFFFD",
      bytes: ENDED_REPLY,
      isAccepted: false,
    },
  ])("$name", ({ content, bytes, isAccepted }) => {
    const isComplete = mutatedAnswerCheck({ modelText: MODEL_ANSWER, bytes, marks: CHAT_MARKS });
    expect(problemsWith({ content }, isComplete)).toHaveLength(isAccepted ? 0 : 1);
  });
});

/** The problems if a provider reports this many requests for a model, each with `inputTokens`. */
function chargeProblems(
  model: string,
  { inputTokens, requestCount }: { inputTokens: number; requestCount: number },
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
    Array.from({ length: requestCount }, () => request),
  );
}

describe("if the reported usage is also mutated", () => {
  it.each([
    {
      name: "a charge of this model above the logged charge is ignored",
      ...{ model: "model-2", inputTokens: 90_000, requestCount: 1 },
      remainingProblems: 0,
    },
    {
      name: "a charge of another model above the logged charge remains a problem",
      ...{ model: "model-1", inputTokens: 90_000, requestCount: 1 },
      remainingProblems: 2,
    },
    {
      name: "requests that are not in the log remain a problem",
      ...{ model: "model-2", inputTokens: 0, requestCount: 90 },
      remainingProblems: 1,
    },
  ])("$name", ({ model, remainingProblems, ...usage }) => {
    const problems = chargeProblems(model, usage);
    expect(problems).not.toEqual([]);
    const remaining = problems.filter((problem) => !isMutatedCharge(problem, "model-2"));
    expect(remaining).toHaveLength(remainingProblems);
  });
});

describe("the filter of faults", () => {
  const rows = ["429 always", "429 without a wait", "stop: unknown", "stop: unknown"].map(
    (fault) => ({ fault }),
  );

  it.each([
    { name: "selects the faults whose names contain the text", nameText: "429", found: 2 },
    { name: "selects all faults with the same name", nameText: "stop", found: 2 },
    { name: "selects all faults if the text is empty", nameText: "", found: 4 },
  ])("$name", ({ nameText, found }) => {
    expect(faultsNamed(rows, nameText)).toHaveLength(found);
  });

  it("refuses a text that no name contains, and lists the names", () => {
    const expectedMessage =
      'There is no fault "typo". There are:\n429 always\n429 without a wait\nstop: unknown';
    expect(() => faultsNamed(rows, "typo")).toThrow(new Error(expectedMessage));
  });
});
