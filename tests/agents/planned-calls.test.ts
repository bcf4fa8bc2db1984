import { describe, expect, it } from "vitest";
import { latestPlanned, PLANNED_LIMITS } from "../../src/agents/planned-calls";
import { type PlannedCall, presentationMessage } from "../../src/prompts/presentation";

const { argumentChars, chars } = PLANNED_LIMITS;
const MIB = 1024 * 1024;
const call = (name: string, text: string): PlannedCall => ({ name, arguments: text });
const many = (count: number, text: string) =>
  Array.from({ length: count }, (_, nth) => call(`call_${nth + 1}`, text));
const shown = (planned: readonly PlannedCall[]) =>
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
    planned: shown(planned),
  });

describe("a presenter that planned calls is shown", () => {
  it.each([
    {
      name: "all of them, word for word and in their order, if they are few",
      planned: many(3, '{"to":"all"}'),
      kept: [1, 2, 3],
    },
    {
      name: "the whole of one at the length limit",
      planned: [call("call_1", "x".repeat(argumentChars))],
      kept: [1],
    },
    { name: "nothing if none was planned", planned: [], kept: [] },
  ])("$name", ({ planned, kept }) => {
    expect(shown(planned)).toEqual({ calls: planned, leftOut: 0 });
    expect(shown(planned).calls.map(({ name }) => name)).toEqual(kept.map((nth) => `call_${nth}`));
  });

  it.each([
    {
      name: "the start of a long one, and the size of the rest",
      planned: [call("call_1", "x".repeat(MIB))],
      leftOut: 0,
    },
    {
      name: "the latest if all together are too long",
      planned: many(64, "x".repeat(MIB)),
      leftOut: 57,
    },
    { name: "the latest if there are too many", planned: many(20_000, "{}"), leftOut: 18_400 },
  ])("$name", ({ planned, leftOut }) => {
    const { calls, leftOut: earlier } = shown(planned);
    expect(earlier).toBe(leftOut);
    expect(calls.map(({ name }) => name)).toEqual(planned.slice(leftOut).map(({ name }) => name));
    expect(message(planned).length).toBeLessThan(chars + 2_000);
  });

  it("no half characters", () => {
    const [first] = shown([call("a", "😀".repeat(argumentChars).slice(1))]).calls;
    expect(first?.arguments.isWellFormed()).toBe(true);
  });

  it("a note that arguments were cut and calls left out", () => {
    const long = message(many(64, "x".repeat(MIB)));
    expect(long).toContain("57 earlier ones are left out");
    expect(long).toContain(`x [… ${MIB - argumentChars} characters left out]`);
    expect(message(many(3, "{}"))).not.toMatch(/left out/);
  });
});

it("the text of planned calls reads only as many calls as there is room for", () => {
  let read = 0;
  function* endless(): Generator<PlannedCall> {
    for (;;) {
      read += 1;
      yield call("a", "x".repeat(MIB));
    }
  }
  expect(latestPlanned(endless(), 1_000)).toMatchObject({ leftOut: 993 });
  expect(read).toBe(8);
});
