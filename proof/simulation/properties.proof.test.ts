import fc from "fast-check";
import { expect, it } from "vitest";
import { countOf } from "../counts";
import { EXPECTED_MARKS } from "./world/expected-marks";
import { Marks } from "./world/marks";
import { narrate } from "./world/narrate";
import { FEATURES, type Situation } from "./world/situation";
import { simulate } from "./world/simulate";
import { type Verdict, verify } from "./world/verify";

/**
 * `SIM_SEEDS` sets how many sessions are simulated, `SIM_SEED` repeats a run that failed. CI runs the same sessions every time, so
 * that a change is judged by what it changed; everywhere else each run explores others.
 */
const RUNS = Number(process.env["SIM_SEEDS"] ?? countOf("rule_sessions"));
const SEED = Number(process.env["SIM_SEED"] ?? (process.env["CI"] ? 1 : Date.now() % 2 ** 31));
const TIMEOUT_MS = 30_000 + RUNS * 40;
/** How often each mark must be met, once the runs are enough to expect it; other sessions each time may meet the rarest but once. */
const LEAST = process.env["CI"] && RUNS >= 3_000 ? 3 : 1;
const ENOUGH_RUNS = 2_000;

/** Fewer agents and fewer features first: a failing situation shrinks to what it really needs. */
const situations: fc.Arbitrary<Situation> = fc.record({
  agents: fc.integer({ min: 1, max: 8 }),
  features: fc.subarray([...FEATURES], { maxLength: 8 }),
  seed: fc.nat(),
});

const marks = new Marks();
/** A run that failed early has not been everywhere. */
let complete = false;

function judge(situation: Situation): Verdict {
  const verdict = verify(situation);
  marks.add(verdict.shell.log);
  for (let crash = 0; crash < verdict.shell.diedAfter.length; crash += 1) marks.hit("a crash");
  return verdict;
}

it(`keeps every invariant in ${RUNS} random sessions`, { timeout: TIMEOUT_MS }, () => {
  const property = fc.property(situations, (situation) => {
    const { problems } = judge(situation);
    if (problems.length > 0) throw new Error(problems.slice(0, 5).join("\n"));
  });
  const result = fc.check(property, { numRuns: RUNS, seed: SEED });
  const found = result.counterexample?.[0];
  if (found) throw new Error(report(found, String(result.errorInstance)));
  complete = true;
});

function report(situation: Situation, problem: string): string {
  return `${problem}\n\nSIM_SEED=${SEED}, shrunk to ${JSON.stringify(situation)}\n\n${history(situation)}`;
}

/** A situation whose run throws has no log to show. */
function history(situation: Situation): string {
  try {
    return narrate(simulate(situation).log);
  } catch (error) {
    return `It does not run to its end: ${String(error)}`;
  }
}

it("gives the same log for the same situation", () => {
  for (const situation of fc.sample(situations, { numRuns: 50, seed: SEED })) {
    expect(simulate(situation).log).toEqual(simulate(situation).log);
  }
});

it.runIf(RUNS >= ENOUGH_RUNS)(
  `meets every kind of event, end, refusal and failure on its way [needs ${ENOUGH_RUNS} sessions]`,
  ({ skip }) => {
    if (!complete) skip("the simulation ended early");
    expect(marks.missing(EXPECTED_MARKS, LEAST)).toEqual([]);
  },
);
