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

/**
 * A step of a test: a call asks to start, leaves the queue, or settles. `verdicts`: the responses
 * to the calls that asked, each `start` or the expected start time.
 */
type Step = { ask: Asker; at: number } | { leave: string } | { settle: string; tokens: number };
function runSteps(steps: Step[]): { verdicts: (number | "start")[]; queue: RateQueue } {
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
const tokenLimit = { tokensPerMinute: 100 };

describe("calls to one endpoint", () => {
  it.each<{ name: string; steps: Step[]; verdicts: (number | "start")[] }>([
    {
      name: "start until the limit is reached, and then wait",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: 0 },
        { ask: c, at: 0 },
      ],
      verdicts: ["start", "start", 61 * SECOND],
    },
    {
      name: "count only once if they ask again",
      steps: [
        { ask: a, at: 0 },
        { ask: a, at: 5 },
        { ask: b, at: 5 },
      ],
      verdicts: ["start", "start", "start"],
    },
    {
      name: "start in the order in which they first asked",
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
      name: "do not wait for an earlier call that no longer asks",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: 0 },
        { ask: c, at: 0 },
        { ask: d, at: 61 * SECOND },
      ],
      verdicts: ["start", "start", 61 * SECOND, "start"],
    },
    {
      name: "do not wait for an earlier call that left the queue",
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
      name: "are not overtaken by smaller calls",
      steps: [
        { ask: asker("a", 60, tokenLimit), at: 0 },
        { ask: asker("b", 60, tokenLimit), at: 0 },
        { ask: asker("c", 10, tokenLimit), at: 0 },
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
      name: "start earlier if an earlier call used fewer tokens than expected",
      steps: [
        { ask: asker("a", 90, tokenLimit), at: 0 },
        { ask: asker("b", 90, tokenLimit), at: SECOND },
        { settle: "a", tokens: 5 },
        { ask: asker("b", 90, tokenLimit), at: 2 * SECOND },
      ],
      verdicts: ["start", 61 * SECOND, "start"],
    },
    {
      name: "count with their actual usage, even if it is reported twice",
      steps: [
        { ask: asker("a", 10, tokenLimit), at: 0 },
        { settle: "a", tokens: 80 },
        { settle: "a", tokens: 80 },
        { settle: "nobody", tokens: 80 },
        { ask: asker("b", 20, tokenLimit), at: SECOND },
        { ask: asker("c", 1, tokenLimit), at: SECOND },
      ],
      verdicts: ["start", "start", 61 * SECOND],
    },
    {
      name: "do not count as requests if they leave without being sent",
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
      name: "do not count their tokens if they leave without being sent",
      steps: [
        { ask: asker("a", 90, tokenLimit), at: 0 },
        { leave: "a" },
        { ask: asker("b", 90, tokenLimit), at: SECOND },
      ],
      verdicts: ["start", "start"],
    },
  ])("$name", ({ steps, verdicts }) => expect(runSteps(steps).verdicts).toEqual(verdicts));

  it("do not make the stored state grow", () => {
    const steps = Array.from(
      { length: 500 },
      (_, index): Step => ({ ask: asker(`c${index}`, 1, {}), at: index * 10 * SECOND }),
    );
    // Grants that do not settle are stored for a quarter of an hour.
    expect(runSteps(steps).queue.granted.length).toBeLessThanOrEqual(91);
    expect(
      runSteps([...steps, { settle: "c499", tokens: 1 }, { settle: "c498", tokens: 1 }]).queue
        .granted.length,
    ).toBeLessThanOrEqual(89);
  });
});

describe("calls to one endpoint whose clock was set back by an hour", () => {
  const askerWithOneRequest = (id: string) => asker(id, 10, { requestsPerMinute: 1 });
  it.each<{ name: string; steps: Step[]; verdicts: (number | "start")[] }>([
    {
      name: "wait one minute, although they ask several times",
      steps: [
        { ask: askerWithOneRequest("a"), at: HOUR },
        { ask: askerWithOneRequest("b"), at: 0 },
        { ask: askerWithOneRequest("b"), at: 30 * SECOND },
        { ask: askerWithOneRequest("b"), at: 61 * SECOND },
      ],
      verdicts: ["start", 61 * SECOND, 61 * SECOND, "start"],
    },
    {
      name: "start when a call from before the change leaves without being sent",
      steps: [
        { ask: askerWithOneRequest("a"), at: HOUR },
        { ask: askerWithOneRequest("b"), at: 0 },
        { leave: "a" },
        { ask: askerWithOneRequest("b"), at: SECOND },
        { ask: askerWithOneRequest("c"), at: SECOND },
      ],
      verdicts: ["start", 61 * SECOND, "start", 62 * SECOND],
    },
    {
      name: "count with their actual usage if they started before the change",
      steps: [
        { ask: asker("a", 90, tokenLimit), at: HOUR },
        { ask: asker("b", 90, tokenLimit), at: 0 },
        { settle: "a", tokens: 10 },
        { ask: asker("b", 90, tokenLimit), at: SECOND },
        { ask: asker("c", 1, tokenLimit), at: SECOND },
      ],
      verdicts: ["start", 61 * SECOND, "start", 61 * SECOND],
    },
    {
      name: "do not count as requests if they start after the change and leave without being sent",
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
      name: "do not wait for a call from before the change that no longer asks",
      steps: [
        { ask: askerWithOneRequest("a"), at: HOUR },
        { ask: askerWithOneRequest("b"), at: HOUR },
        { ask: askerWithOneRequest("c"), at: 0 },
        { ask: askerWithOneRequest("c"), at: 61 * SECOND },
      ],
      verdicts: ["start", HOUR + 61 * SECOND, 61 * SECOND, "start"],
    },
  ])("$name", ({ steps, verdicts }) => expect(runSteps(steps).verdicts).toEqual(verdicts));

  it("never exceed the limit in a real minute, and wait at most one minute after the last change", () => {
    const step = fc.record({
      gap: fc.integer({ min: 0, max: 40_000 }),
      back: fc.constantFrom(0, 0, 1, 10 * SECOND, HOUR),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let [queue, realTime, clockOffset] = [EMPTY_QUEUE, 0, 40 * HOUR];
        const startTimes: number[] = [];
        for (const [index, { gap, back }] of steps.entries()) {
          realTime += gap;
          clockOffset -= back;
          const requestedAt = realTime;
          for (;;) {
            const verdict = askToStart(queue, asker(`c${index}`), clockOffset + realTime);
            queue = verdict.queue;
            if (verdict.granted) break;
            realTime = verdict.startsAt - clockOffset;
          }
          expect(realTime - requestedAt).toBeLessThanOrEqual(61 * SECOND);
          startTimes.push(realTime);
          expect(startTimes.filter((at) => at > realTime - 60 * SECOND).length).toBeLessThanOrEqual(
            2,
          );
        }
      }),
    );
  });
});

describe("a queue that no call uses", () => {
  const DAY = 86_400_000;
  it.each<{ name: string; steps: Step[]; at: number }>([
    { name: "is empty at time 0 if it had no calls", steps: [], at: 0 },
    {
      name: "is empty when its last call is a day old",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: SECOND },
      ],
      at: DAY + 300_000,
    },
    {
      name: "is empty a day after its last call, not after its first call",
      steps: [
        { ask: a, at: 0 },
        { ask: b, at: DAY },
      ],
      at: 2 * DAY + 300_000,
    },
  ])("$name", ({ steps, at }) => {
    expect(forgottenAt(runSteps(steps).queue)).toBe(at);
  });
});
