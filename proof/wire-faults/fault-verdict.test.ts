import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { newRecord } from "../../simulated/providers/ledger";
import { type WireEvent, WireEventSchema } from "../../src/protocol/events";
import { CHAT_MARKS } from "../../tests/contracts/faults/oracle";
import { answerProblems, faultsNamed, isMutatedCharge, mutatedAnswer } from "./fault-verdict";
import { undercharged } from "../../tests/e2e/support/verdict";

/** A recorded run in which `bela` is the faulty agent, whose model says GIVEN. */
const GIVEN = "Go by the ridge.";
const RECORDED = path.join(import.meta.dirname, "../golden/v2/consensus-at-once.jsonl");
const EVENTS: readonly WireEvent[] = readFileSync(RECORDED, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => WireEventSchema.parse({ ...JSON.parse(line), session_id: "ses_1" }));

type Submitted = { content: string; origin?: "tool" | "partial" };

/** The log in which the faulty agent submitted this and nothing else. */
function logWith({ content, origin = "tool" }: Submitted): WireEvent[] {
  return EVENTS.map((event) =>
    event.type === "answer.submitted" && event.agent === "bela"
      ? { ...event, content, origin }
      : event,
  );
}

const problemsWith = (submitted: Submitted, isWhole: (content: string) => boolean): string[] =>
  answerProblems(logWith(submitted), "bela", isWhole);

describe("of a reply whose whole answer is known", () => {
  const isWhole = (content: string) => content === GIVEN;

  it("that answer is no problem, and others' answers are their own", () => {
    expect(problemsWith({ content: GIVEN }, isWhole)).toEqual([]);
  });

  it.each([
    { name: "its beginning", submitted: { content: "Go by the ri" } },
    { name: "nothing but its first letter", submitted: { content: "G" } },
    { name: "its end", submitted: { content: "ridge." } },
    { name: "another text", submitted: { content: "Go home." } },
    { name: "the JSON that it came in", submitted: { content: `{"content":"${GIVEN}` } },
  ])("$name as an answer is a problem", ({ submitted }) => {
    const said = `its answer agent2.1 is ${JSON.stringify(submitted.content)}, which its model did not say as a whole`;
    expect(problemsWith(submitted, isWhole)).toEqual([said]);
  });

  it("its text, taken because time or tries ran out, is a problem: neither did", () => {
    expect(problemsWith({ content: GIVEN, origin: "partial" }, isWhole)).toEqual([
      "its partial text became its answer agent2.1",
    ]);
  });
});

describe("of a mutated reply", () => {
  const chunk = (choice: object) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`;
  const begun = chunk({ delta: { content: "…" } });
  const ENDED = Buffer.from(begun + chunk({ delta: {}, finish_reason: "tool_calls" }));
  const CUT = Buffer.from(begun);
  const BROKEN = Buffer.from(
    `${begun}data: oops\n\n${chunk({ delta: {}, finish_reason: "stop" })}`,
  );

  it.each([
    {
      name: "what the model said is whole, as a later call says it again",
      content: GIVEN,
      bytes: CUT,
      whole: true,
    },
    {
      name: "a changed text is, if the bytes say that they end",
      content: "Go by the rid\u0000e.",
      bytes: ENDED,
      whole: true,
    },
    {
      name: "a changed text is not, if they never say so",
      content: "Go by the rid\u0000e.",
      bytes: CUT,
      whole: false,
    },
    {
      name: "nor if what came before the end is no JSON",
      content: "Go by the rid\u0000e.",
      bytes: BROKEN,
      whole: false,
    },
    { name: "nor if there was no such reply", content: "Go home.", bytes: undefined, whole: false },
    {
      name: "a beginning is not, whatever the bytes say",
      content: "Go by the",
      bytes: ENDED,
      whole: false,
    },
    { name: "nor one with a space behind it", content: "Go by the ", bytes: ENDED, whole: false },
    {
      name: "nor one that ends in half a character",
      content: "Go by the ri\uFFFD",
      bytes: ENDED,
      whole: false,
    },
  ])("$name", ({ content, bytes, whole }) => {
    const isWhole = mutatedAnswer({ said: GIVEN, bytes, marks: CHAT_MARKS });
    expect(problemsWith({ content }, isWhole)).toHaveLength(whole ? 0 : 1);
  });
});

/** A provider that asks for more than the log says of this model, or that was asked more often. */
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

describe("where what a call is charged is mutated, too", () => {
  it.each([
    {
      name: "a charge beyond the log's is none of the service's",
      ...{ model: "model-2", inputTokens: 90_000, times: 1 },
      left: 0,
    },
    {
      name: "one of another model is",
      ...{ model: "model-1", inputTokens: 90_000, times: 1 },
      left: 2,
    },
    {
      name: "and so is a request that the log does not know",
      ...{ model: "model-2", inputTokens: 0, times: 90 },
      left: 1,
    },
  ])("$name", ({ model, left, ...charged }) => {
    const problems = ledgerOf(model, charged);
    expect(problems).not.toEqual([]);
    expect(problems.filter((problem) => !isMutatedCharge(problem, "model-2"))).toHaveLength(left);
  });
});

describe("of all faults those are played", () => {
  const rows = ["429 always", "429 without a wait", "stop: unknown", "stop: unknown"].map(
    (fault) => ({ fault }),
  );

  it.each([
    { name: "whose names hold what is asked for", part: "429", found: 2 },
    { name: "however many have that name", part: "stop", found: 2 },
    { name: "all, if nothing is asked for", part: "", found: 4 },
  ])("$name", ({ part, found }) => {
    expect(faultsNamed(rows, part)).toHaveLength(found);
  });

  it("or none at all, if no name holds it: that is said, with the names that there are", () => {
    const said =
      'There is no fault "typo". There are:\n429 always\n429 without a wait\nstop: unknown';
    expect(() => faultsNamed(rows, "typo")).toThrow(new Error(said));
  });
});
