import { describe, expect, it } from "vitest";
import { latestPlanned, PLANNED_LIMITS } from "../../src/agents/planned-calls";
import { type PlannedCall, presentationMessage } from "../../src/prompts/presentation";

const { argumentChars, chars } = PLANNED_LIMITS;
const MIB = 1024 * 1024;
const call = (name: string, text: string): PlannedCall => ({ name, arguments: text });
const manyCalls = (count: number, text: string) =>
  Array.from({ length: count }, (_, index) => call(`call_${index + 1}`, text));
const latest = (planned: readonly PlannedCall[]) =>
  latestPlanned(planned.toReversed(), planned.length);
const message = (planned: readonly PlannedCall[]) =>
  presentationMessage({
    nonce: "n1",
    history: [],
    question: "?",
    feedback: null,
    own: null,
    others: [],
    votes: [],
    planned: latest(planned),
  }).text;

describe("the message to a presenter contains, of its planned calls,", () => {
  it.each([
    {
      name: "all of them, unchanged and in their order, if they are few",
      planned: manyCalls(3, '{"to":"all"}'),
      expectedNumbers: [1, 2, 3],
    },
    {
      name: "a complete call whose arguments have exactly the maximum length",
      planned: [call("call_1", "x".repeat(argumentChars))],
      expectedNumbers: [1],
    },
    { name: "no calls if none was planned", planned: [], expectedNumbers: [] },
  ])("$name", ({ planned, expectedNumbers }) => {
    expect(latest(planned)).toEqual({ calls: planned, leftOut: 0 });
    expect(latest(planned).calls.map(({ name }) => name)).toEqual(
      expectedNumbers.map((number) => `call_${number}`),
    );
  });

  it.each([
    {
      name: "the beginning of long arguments, and the size of the rest",
      planned: [call("call_1", "x".repeat(MIB))],
      leftOut: 0,
    },
    {
      name: "only the latest calls if all together are too long",
      planned: manyCalls(64, "x".repeat(MIB)),
      leftOut: 57,
    },
    {
      name: "only the latest calls if there are too many",
      planned: manyCalls(20_000, "{}"),
      leftOut: 18_400,
    },
  ])("$name", ({ planned, leftOut }) => {
    const { calls, leftOut: earlier } = latest(planned);
    expect(earlier).toBe(leftOut);
    expect(calls.map(({ name }) => name)).toEqual(planned.slice(leftOut).map(({ name }) => name));
    expect(message(planned).length).toBeLessThan(chars + 2_000);
  });

  it("cut arguments without half a character at the end", () => {
    const [first] = latest([call("a", "😀".repeat(argumentChars).slice(1))]).calls;
    expect(first?.arguments.isWellFormed()).toBe(true);
  });

  it("a note if arguments were cut or calls were left out", () => {
    const cutMessage = message(manyCalls(64, "x".repeat(MIB)));
    expect(cutMessage).toContain("57 earlier ones are left out");
    expect(cutMessage).toContain(`x [… ${MIB - argumentChars} characters left out]`);
    expect(message(manyCalls(3, "{}"))).not.toMatch(/left out/);
  });
});

it("only as many planned calls are read as fit, and one more", () => {
  let readCount = 0;
  function* endless(): Generator<PlannedCall> {
    for (;;) {
      readCount += 1;
      yield call("a", "x".repeat(MIB));
    }
  }
  expect(latestPlanned(endless(), 1_000)).toMatchObject({ leftOut: 993 });
  expect(readCount).toBe(8);
});
