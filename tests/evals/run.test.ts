import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errored, judge, judgeCancelled, type TurnEnd } from "../../src/evals/result";
import {
  claimable,
  evolve,
  isOver,
  newRun,
  nextAskMs,
  owedAt,
  type RunEvent,
  type RunState,
  summarize,
} from "../../src/evals/run";
import { GraderSchema } from "../../src/evals/schema";

const run = (more: Partial<Parameters<typeof newRun>[0]> = {}): RunState =>
  newRun({ cases: 3, atOnce: 2, caseLimitMs: 10_000, startedAt: 0, ...more });
const fold = (state: RunState, ...events: RunEvent[]): RunState => events.reduce(evolve, state);
const claimed = (nth: number, at = 0): RunEvent => ({ type: "case_claimed", nth, at });
const started = (nth: number, at = 0): RunEvent => ({ type: "case_started", nth, at });
const ended = (
  nth: number,
  at = 0,
  outcome: "passed" | "failed" | "errored" = "passed",
): RunEvent => ({
  type: "case_ended",
  nth,
  at,
  result: { ...errored("a reason"), hasRun: true, outcome, costUsd: 0.5 },
});
const endedUnstarted = (nth: number, at: number): RunEvent => ({
  type: "case_ended",
  nth,
  at,
  result: errored("it could not start"),
});

describe("a case whose session has no result (A4)", () => {
  it("has an unknown cost if it had a session, else no cost", () => {
    expect(errored("its session was erased", { hasRun: true })).toMatchObject({
      costUsd: 0,
      unpriced: true,
    });
    expect(errored("it could not start")).not.toHaveProperty("unpriced");
  });
});

describe("a run", () => {
  it.each([
    { name: "can start the first cases", state: run(), next: [0, 1] },
    {
      name: "can start no case while its maximum number of cases is in progress",
      state: fold(run(), claimed(0), claimed(1), started(0)),
      next: [],
    },
    {
      name: "can start the next case when a case has ended",
      state: fold(run(), claimed(0), claimed(1), ended(0)),
      next: [2],
    },
    {
      name: "can start no case when no case waits",
      state: fold(run({ cases: 1 }), claimed(0), ended(0)),
      next: [],
    },
  ])("$name", ({ state, next }) => expect(claimable(state)).toEqual(next));

  it.each([
    {
      name: "repeats the start of a case that was interrupted",
      state: fold(run(), claimed(0)),
      now: 5,
      effects: [{ type: "create_session", nth: 0 }],
    },
    {
      name: "queries the sessions of running cases",
      state: fold(run(), claimed(0), started(0)),
      now: 5,
      effects: [{ type: "ask_session", nth: 0 }],
    },
    {
      name: "gives up cases that run too long",
      state: fold(run(), claimed(0), started(0)),
      now: 10_001,
      effects: [{ type: "give_up", nth: 0 }],
    },
    {
      name: "gives up cases that could never start",
      state: fold(run(), claimed(0)),
      now: 10_001,
      effects: [{ type: "give_up", nth: 0 }],
    },
    {
      name: "counts the time of a running case from the start of its session",
      state: fold(run(), claimed(0), started(0, 9_000)),
      now: 19_000,
      effects: [{ type: "ask_session", nth: 0 }],
    },
    {
      name: "waits longer for the start of a case if another case of the run ends",
      state: fold(run(), claimed(0), claimed(1), started(1), ended(1, 9_000)),
      now: 19_000,
      effects: [{ type: "create_session", nth: 0 }],
    },
    {
      name: "does not wait longer if the other case could not start either",
      state: fold(run(), claimed(0), claimed(1), endedUnstarted(1, 9_000)),
      now: 10_001,
      effects: [{ type: "give_up", nth: 0 }],
    },
    {
      name: "does nothing for ended cases",
      state: fold(run(), claimed(0), ended(0)),
      now: 99_999,
      effects: [],
    },
  ])("$name", ({ state, now, effects }) => expect(owedAt(state, now)).toEqual(effects));

  it("counts the outcomes of its cases", () => {
    const state = fold(
      run(),
      claimed(0),
      ended(0, 5),
      claimed(1),
      ended(1, 9, "failed"),
      claimed(2),
      ended(2, 7, "errored"),
    );
    expect(summarize(state)).toEqual({
      cases: 3,
      passed: 1,
      failed: 1,
      errored: 1,
      costUsd: 1.5,
      unpriced: false,
      endedAt: 9,
    });
    expect(summarize(run()).endedAt).toBeNull();
  });

  it("queries sessions less often while nothing changes, and soon after a change", () => {
    const state = fold(run(), claimed(0, 100_000), started(0, 100_000));
    expect([100_000, 108_000, 200_000].map((now) => nextAskMs(state, now))).toEqual([
      1_000, 2_000, 15_000,
    ]);
    expect(nextAskMs(evolve(state, ended(0, 200_000)), 200_000)).toBe(1_000);
  });
});

describe("after any events in any order", () => {
  const event = (cases: number): fc.Arbitrary<RunEvent> =>
    fc
      .record({
        type: fc.constantFrom("started", "ended"),
        nth: fc.nat(cases + 1),
        at: fc.nat(1_000_000),
      })
      .map(({ type, nth, at }) => (type === "started" ? started(nth, at) : ended(nth, at)));

  const sampleRun = fc
    .record({ cases: fc.integer({ min: 1, max: 12 }), atOnce: fc.integer({ min: 1, max: 8 }) })
    .chain((size) =>
      fc.record({
        size: fc.constant(size),
        events: fc.array(event(size.cases), { maxLength: 60 }),
      }),
    );

  /**
   * Applies the events. Claims all startable cases before each event, like the run's object. Yields
   * the states before and after each event.
   */
  function* play({
    size,
    events,
  }: {
    size: { cases: number; atOnce: number };
    events: RunEvent[];
  }): Generator<[RunState, RunState]> {
    let state = run(size);
    for (const next of events) {
      const before = fold(state, ...claimable(state).map((nth) => claimed(nth)));
      state = evolve(before, next);
      yield [before, state];
    }
  }

  it("at most the maximum number of cases is in progress, and ended cases do not change", () => {
    fc.assert(
      fc.property(sampleRun, (sample) => {
        for (const [before, after] of play(sample)) {
          expect(owedAt(before, 0).length).toBeLessThanOrEqual(sample.size.atOnce);
          for (const [nth, state] of before.cases.entries())
            if (state.status === "done") expect(after.cases[nth]).toBe(state);
        }
      }),
    );
  });

  it("a repeated event has no effect", () => {
    fc.assert(
      fc.property(sampleRun, (sample) => {
        for (const [, after] of play(sample))
          for (const again of sample.events)
            expect(evolve(evolve(after, again), again)).toEqual(evolve(after, again));
      }),
    );
  });

  it("each case is claimed once, and a run whose cases have all ended is over", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 8 }),
        (cases, atOnce) => {
          let state = run({ cases, atOnce });
          const order: number[] = [];
          for (let step = 0; step < cases * 2 && !isOver(state); step += 1) {
            const next = claimable(state);
            order.push(...next);
            state = fold(state, ...next.map((nth) => claimed(nth)));
            const first = owedAt(state, 0)[0];
            if (first) state = evolve(state, ended(first.nth));
          }
          expect(order).toEqual(Array.from({ length: cases }, (_, nth) => nth));
          expect([isOver(state), summarize(state).passed]).toEqual([true, cases]);
        },
      ),
    );
  });
});

describe("the result of a case", () => {
  const grader = GraderSchema.parse({ type: "number", value: 42 });
  const turn = (more: Partial<TurnEnd>): TurnEnd => ({
    status: "completed",
    answer: "It is 42.",
    cost_usd: 0.25,
    cost_usd_known: 0.25,
    started_at: 100,
    ended_at: 101.5,
    error: null,
    ...more,
  });

  it.each([
    { name: "is null while its turn runs", given: turn({ status: "running" }), result: null },
    {
      name: "is `passed` with the correct answer",
      given: turn({}),
      result: { outcome: "passed", answer: "It is 42.", costUsd: 0.25, durationMs: 1_500 },
    },
    {
      name: "is `failed` with a wrong answer",
      given: turn({ answer: "41" }),
      result: { outcome: "failed", detail: "its last number is 41, not 42" },
    },
    {
      name: "is `errored` with the turn's message and cost if the turn failed",
      given: turn({
        status: "failed",
        answer: null,
        error: { code: "all_agents_failed", message: "No agent is left.", agents: [] },
      }),
      result: {
        outcome: "errored",
        detail: "all_agents_failed: No agent is left.",
        answer: null,
        costUsd: 0.25,
      },
    },
    {
      name: "contains the message of each agent if the turn failed",
      given: turn({
        status: "failed",
        answer: null,
        error: {
          code: "no_answer",
          message: "No agent produced an answer.",
          agents: [
            { agent: "solid", message: "No server listens there." },
            { agent: "improver", message: "The key is not accepted." },
          ],
        },
      }),
      result: {
        detail:
          "no_answer: No agent produced an answer. solid: No server listens there. improver: The key is not accepted.",
      },
    },
    {
      name: "is `errored` if the turn was cancelled",
      given: turn({ status: "cancelled", answer: null }),
      result: { outcome: "errored", detail: "its session was cancelled" },
    },
    {
      name: "is graded by the whole answer but stores only its start",
      given: turn({ answer: `${"x".repeat(30_000)} 42` }),
      result: { outcome: "passed", isCut: true, answer: "x".repeat(20_000) },
    },
  ])("$name", ({ given, result }) => {
    const found = judge(given, grader);
    if (result === null) expect(found).toBeNull();
    else expect(found).toMatchObject(result);
  });

  it.each([
    {
      name: "is `errored` with the cost of the cancelled turn",
      given: turn({ status: "cancelled", answer: null }),
      result: { outcome: "errored", detail: "not completed within 60 seconds", costUsd: 0.25 },
    },
    {
      name: "is `errored` with an unknown cost if the turn still runs",
      given: turn({ status: "running", answer: null, ended_at: null }),
      result: { outcome: "errored", detail: "not completed within 60 seconds", unpriced: true },
    },
    {
      name: "is the turn's own result if the turn ended before",
      given: turn({}),
      result: { outcome: "passed" },
    },
  ])("at the time limit $name", ({ given, result }) => {
    expect(judgeCancelled(given, grader, 60)).toMatchObject({ hasRun: true, ...result });
  });
});
