import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Asker,
  askToStart,
  EMPTY_QUEUE,
  forgottenAt,
  leaveQueue,
  type RateQueue,
  settleCall,
} from "../../src/rate-limits/rate-queue";

const SECOND = 1_000;
const HOUR = 3_600_000;
const asker = (
  id: string,
  tokens = 10,
  limits: Asker["limits"] = { requestsPerMinute: 2 },
): Asker => ({ id, limits, tokens });

/** Steps in order, with the response to each request: `start`, or when there may be room. */
type Step = { ask: Asker; at: number } | { leave: string } | { settle: string; tokens: number };
function play(steps: Step[]): { verdicts: (number | "start")[]; queue: RateQueue } {
  const verdicts: (number | "start")[] = [];
  let queue = EMPTY_QUEUE;
  for (const step of steps) {
    if ("leave" in step) queue = leaveQueue(queue, step.leave);
    else if ("settle" in step) queue = settleCall(queue, step.settle, step.tokens);
    else {
      const verdict = askToStart(queue, step.ask, step.at);
      queue = verdict.queue;
      verdicts.push(verdict.granted ? "start" : verdict.startsAt);
    }
  }
  return { verdicts, queue };
}
const [a, b, c, d] = ["a", "b", "c", "d"].map((id) => asker(id)) as [Asker, Asker, Asker, Asker];
const tpm = { tokensPerMinute: 100 };

describe("calls to one endpoint", () => {
  it.each<{ name: string; steps: Step[]; verdicts: (number | "start")[] }>([
    {
      name: "start while there is room, and then wait for it",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: 0 },
        { ask: c, at: 0 },
      ],
      verdicts: ["start", "start", 61 * SECOND],
    },
    {
      name: "start once, however often they ask",
      steps: [
        { ask: a, at: 0 },
        { ask: a, at: 5 },
        { ask: b, at: 5 },
      ],
      verdicts: ["start", "start", "start"],
    },
    {
      name: "start in the order of their requests",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: 0 },
        { ask: c, at: SECOND },
        { ask: d, at: 2 * SECOND },
        { ask: c, at: 50 * SECOND },
        { ask: d, at: 61 * SECOND },
        { ask: c, at: 61 * SECOND },
        { ask: d, at: 61 * SECOND },
      ],
      verdicts: [
        "start",
        "start",
        61 * SECOND,
        61 * SECOND,
        61 * SECOND,
        61 * SECOND,
        "start",
        "start",
      ],
    },
    {
      name: "do not wait for a call that disappeared",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: 0 },
        { ask: c, at: 0 },
        { ask: d, at: 61 * SECOND },
      ],
      verdicts: ["start", "start", 61 * SECOND, "start"],
    },
    {
      name: "do not wait for a call that was aborted",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: 0 },
        { ask: c, at: SECOND },
        { leave: "c" },
        { ask: d, at: 61 * SECOND },
      ],
      verdicts: ["start", "start", 61 * SECOND, "start"],
    },
    {
      name: "are not overtaken by small ones",
      steps: [
        { ask: asker("a", 60, tpm), at: 0 },
        { ask: asker("b", 60, tpm), at: 0 },
        { ask: asker("c", 10, tpm), at: 0 },
      ],
      verdicts: ["start", 61 * SECOND, 61 * SECOND],
    },
    {
      name: "are not delayed by calls with stricter limits",
      steps: [
        { ask: asker("a", 1, { requestsPerMinute: 1 }), at: 0 },
        { ask: asker("b", 1, { requestsPerMinute: 1 }), at: 0 },
        { ask: asker("c", 1, { requestsPerMinute: 9 }), at: 0 },
      ],
      verdicts: ["start", 61 * SECOND, "start"],
    },
    {
      name: "start as soon as another call's actual usage is smaller",
      steps: [
        { ask: asker("a", 90, tpm), at: 0 },
        { ask: asker("b", 90, tpm), at: SECOND },
        { settle: "a", tokens: 5 },
        { ask: asker("b", 90, tpm), at: 2 * SECOND },
      ],
      verdicts: ["start", 61 * SECOND, "start"],
    },
    {
      name: "count with their actual usage, even if it is reported twice",
      steps: [
        { ask: asker("a", 10, tpm), at: 0 },
        { settle: "a", tokens: 80 },
        { settle: "a", tokens: 80 },
        { settle: "nobody", tokens: 80 },
        { ask: asker("b", 20, tpm), at: SECOND },
        { ask: asker("c", 1, tpm), at: SECOND },
      ],
      verdicts: ["start", "start", 61 * SECOND],
    },
    {
      name: "return their request if they are not sent",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: 0 },
        { leave: "a" },
        { ask: c, at: SECOND },
        { ask: d, at: SECOND },
      ],
      verdicts: ["start", "start", "start", 61 * SECOND],
    },
    {
      name: "count as requests even without tokens",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: 0 },
        { settle: "a", tokens: 0 },
        { ask: c, at: SECOND },
      ],
      verdicts: ["start", "start", 61 * SECOND],
    },
    {
      name: "return their tokens if they are not sent",
      steps: [
        { ask: asker("a", 90, tpm), at: 0 },
        { leave: "a" },
        { ask: asker("b", 90, tpm), at: SECOND },
      ],
      verdicts: ["start", "start"],
    },
  ])("$name", ({ steps, verdicts }) => expect(play(steps).verdicts).toEqual(verdicts));

  it("leave no growing state behind", () => {
    const steps = Array.from(
      { length: 500 },
      (_, nth): Step => ({ ask: asker(`c${nth}`, 1, {}), at: nth * 10 * SECOND }),
    );
    // a quarter of an hour of unsettled calls
    expect(play(steps).queue.granted.length).toBeLessThanOrEqual(91);
    expect(
      play([...steps, { settle: "c499", tokens: 1 }, { settle: "c498", tokens: 1 }]).queue.granted
        .length,
    ).toBeLessThanOrEqual(89);
  });
});

describe("calls to one endpoint whose clock was set back by an hour", () => {
  const one = (id: string) => asker(id, 10, { requestsPerMinute: 1 });
  it.each<{ name: string; steps: Step[]; verdicts: (number | "start")[] }>([
    {
      name: "wait a minute, however often they ask",
      steps: [
        { ask: one("a"), at: HOUR },
        { ask: one("b"), at: 0 },
        { ask: one("b"), at: 30 * SECOND },
        { ask: one("b"), at: 61 * SECOND },
      ],
      verdicts: ["start", 61 * SECOND, 61 * SECOND, "start"],
    },
    {
      name: "start as soon as a call of the hour ahead is not sent",
      steps: [
        { ask: one("a"), at: HOUR },
        { ask: one("b"), at: 0 },
        { leave: "a" },
        { ask: one("b"), at: SECOND },
        { ask: one("c"), at: SECOND },
      ],
      verdicts: ["start", 61 * SECOND, "start", 62 * SECOND],
    },
    {
      name: "count with their actual usage, also those of the hour ahead",
      steps: [
        { ask: asker("a", 90, tpm), at: HOUR },
        { ask: asker("b", 90, tpm), at: 0 },
        { settle: "a", tokens: 10 },
        { ask: asker("b", 90, tpm), at: SECOND },
        { ask: asker("c", 1, tpm), at: SECOND },
      ],
      verdicts: ["start", 61 * SECOND, "start", 61 * SECOND],
    },
    {
      name: "return their request although they were admitted right afterwards",
      steps: [
        { ask: a, at: HOUR },
        { ask: b, at: 0 },
        { leave: "b" },
        { ask: c, at: SECOND },
        { ask: d, at: SECOND },
      ],
      verdicts: ["start", "start", "start", 61 * SECOND],
    },
    {
      name: "do not wait for a call of the hour ahead that disappeared",
      steps: [
        { ask: one("a"), at: HOUR },
        { ask: one("b"), at: HOUR },
        { ask: one("c"), at: 0 },
        { ask: one("c"), at: 61 * SECOND },
      ],
      verdicts: ["start", HOUR + 61 * SECOND, 61 * SECOND, "start"],
    },
  ])("$name", ({ steps, verdicts }) => expect(play(steps).verdicts).toEqual(verdicts));

  it("never exceed the limit in any real minute, and wait at most one minute after the last clock change", () => {
    const step = fc.record({
      gap: fc.integer({ min: 0, max: 40_000 }),
      back: fc.constantFrom(0, 0, 1, 10 * SECOND, HOUR),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let [queue, passed, moved] = [EMPTY_QUEUE, 0, 40 * HOUR];
        const made: number[] = [];
        for (const [nth, { gap, back }] of steps.entries()) {
          passed += gap;
          moved -= back;
          const asked = passed;
          for (;;) {
            const verdict = askToStart(queue, asker(`c${nth}`), moved + passed);
            queue = verdict.queue;
            if (verdict.granted) break;
            passed = verdict.startsAt - moved;
          }
          expect(passed - asked).toBeLessThanOrEqual(61 * SECOND);
          made.push(passed);
          expect(made.filter((at) => at > passed - 60 * SECOND).length).toBeLessThanOrEqual(2);
        }
      }),
    );
  });
});

describe("an unused queue", () => {
  const DAY = 86_400_000;
  it.each<{ name: string; steps: Step[]; at: number }>([
    { name: "is empty from the start, without calls", steps: [], at: 0 },
    {
      name: "is dropped when its last call is a day old",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: SECOND },
      ],
      at: DAY + 300_000,
    },
    {
      name: "is dropped a day after its last call",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: DAY },
      ],
      at: 2 * DAY + 300_000,
    },
  ])("$name", ({ steps, at }) => {
    expect(forgottenAt(play(steps).queue)).toBe(at);
  });
});
