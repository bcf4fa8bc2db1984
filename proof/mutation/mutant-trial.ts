import { rulesSituationOf } from "../simulation/world/rules-situation";
import { verify } from "../simulation/world/verify";
import { type CollectedTest, collected } from "./test-collector";
import { type Order, OrderSchema, type Survey, type TrialResult } from "./schema";

/**
 * Runs the checks (tests and simulated sessions) against one mutant after another, in this process.
 * It is bundled with the tests and with code that contains every mutant behind a switch.
 */

/** The object that the instrumented code reads; the instrumenter defines its names. */
type Switches = {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  mutantCoverage?: {
    static: Record<string, number>;
    perTest: Record<string, Record<string, number>>;
  };
  hitCount?: number | undefined;
  hitLimit?: number;
};

declare global {
  var __stryker__: Switches | undefined;
}

// The code under test is already loaded and has created the object.
const switches: Switches = globalThis.__stryker__ ?? {};

/** All checks in their fixed order: the tests, then the sessions. */
const checksFor = (sessions: number): CollectedTest[] => [
  ...collected,
  ...Array.from({ length: sessions }, (_, nth) => ({
    name: `simulated session ${nth + 1}`,
    run: () => simulateSession(nth + 1),
  })),
];

/** Throws if a session of this seed violates an invariant. */
function simulateSession(seed: number): void {
  const { problems } = verify(rulesSituationOf(seed));
  if (problems[0] !== undefined) throw new Error(problems[0]);
}

/** Runs all checks without a mutant and records which mutants' code each check runs. */
async function runSurvey(checks: readonly CollectedTest[]): Promise<Survey> {
  const survey: Survey = {
    names: checks.map(({ name }) => name),
    ms: [],
    failed: [],
    covers: {},
    hits: {},
    atLoad: [],
  };
  const coverage = switches.mutantCoverage ?? { static: {}, perTest: {} };
  survey.atLoad = Object.keys(coverage.static);
  for (const [nth, check] of checks.entries()) {
    const started = performance.now();
    switches.currentTestId = String(nth + 1);
    if (!(await passes(check))) survey.failed.push(check.name);
    survey.ms.push(performance.now() - started);
    for (const [mutant, hits] of Object.entries(coverage.perTest[nth + 1] ?? {})) {
      const covering = survey.covers[mutant] ?? [];
      covering.push(nth);
      survey.covers[mutant] = covering;
      survey.hits[mutant] = Math.max(survey.hits[mutant] ?? 0, hits);
    }
  }
  switches.currentTestId = undefined;
  return survey;
}

/** Runs the ordered checks with an active mutant until one of the checks fails. */
async function tryMutant(
  order: Extract<Order, { type: "try" }>,
  checks: readonly CollectedTest[],
): Promise<TrialResult> {
  switches.activeMutant = order.mutant;
  switches.hitLimit = order.hitLimit;
  for (const nth of order.checks) {
    switches.hitCount = 0;
    const check = checks[nth];
    if (!check || (await passes(check))) continue;
    return { by: check.name, isEndless: switches.hitCount > order.hitLimit };
  }
  return { by: null, isEndless: false };
}

async function passes({ run }: CollectedTest): Promise<boolean> {
  try {
    await run();
    return true;
  } catch {
    return false;
  }
}

process.on("message", (message) => {
  const order = OrderSchema.parse(message);
  const checks = checksFor(order.sessions);
  void (order.type === "survey" ? runSurvey(checks) : tryMutant(order, checks)).then((result) =>
    process.send?.(result),
  );
});
process.send?.("ready");
