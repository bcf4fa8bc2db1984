import fc from "fast-check";
import { expect, it } from "vitest";
import { countOf } from "../counts";
import { EXPECTED_MARKS } from "./world/expected-marks";
import { Marks } from "./world/marks";
import { narrate } from "./world/narrate";
import { FEATURES, type Situation } from "./world/rules-situation";
import { simulate } from "./world/simulate";
import { type Verdict, verify } from "./world/verify";

/**
 * `SIM_SEEDS` sets the number of simulated sessions, and `SIM_SEED` repeats a failed run. CI plays
 * the same sessions every time, so that only a change of the code changes the result. Other runs
 * play new sessions.
 */
const RUNS = Number(process.env["SIM_SEEDS"] ?? countOf("rule_sessions"));
const SEED = Number(process.env["SIM_SEED"] ?? (process.env["CI"] ? 1 : Date.now() % 2 ** 31));
const TIMEOUT_MS = 30_000 + RUNS * 40;
/**
 * Minimum count of each mark if at least `ENOUGH_RUNS` sessions are played. Outside CI sessions are
 * random, and the rarest marks may occur only once.
 */
const LEAST = process.env["CI"] && RUNS >= 3_000 ? 3 : 1;
const ENOUGH_RUNS = 2_000;

/**
 * Random situations. fast-check shrinks a failing situation to the agents and features that are
 * necessary for the failure.
 */
const situations: fc.Arbitrary<Situation> = fc.record({
  agents: fc.integer({ min: 1, max: 8 }),
  features: fc.subarray([...FEATURES], { maxLength: 8 }),
  seed: fc.nat(),
});

const marks = new Marks();
/** Whether all sessions were played. After an early failure, marks would be missing. */
let isComplete = false;

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
  const failing = result.counterexample?.[0];
  if (failing) throw new Error(report(failing, String(result.errorInstance)));
  isComplete = true;
});

function report(situation: Situation, problem: string): string {
  return `${problem}\n\nSIM_SEED=${SEED}, shrunk to ${JSON.stringify(situation)}\n\n${history(situation)}`;
}

/** The history of a situation, or the error if the run throws. */
function history(situation: Situation): string {
  try {
    return narrate(simulate(situation).log);
  } catch (error) {
    return `The run throws an error: ${String(error)}`;
  }
}

it("gives the same log for the same situation", () => {
  for (const situation of fc.sample(situations, { numRuns: 50, seed: SEED })) {
    expect(simulate(situation).log).toEqual(simulate(situation).log);
  }
});

it.runIf(RUNS >= ENOUGH_RUNS)(
  `meets every kind of event, end, refusal and failure [needs ${ENOUGH_RUNS} sessions]`,
  ({ skip }) => {
    if (!isComplete) skip("the simulation ended early");
    expect(marks.missing(EXPECTED_MARKS, LEAST)).toEqual([]);
  },
);
