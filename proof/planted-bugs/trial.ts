import { judge, situationOf } from "../simulation/engine/judge";
import { rulesSituationOf } from "../simulation/world/rules-situation";
import { verify } from "../simulation/world/verify";
import { type Outcome, type Session, TaskSchema } from "./schema";

/**
 * Simulates the bundled code, with sessions of the rules and of the whole service in turn, and
 * prints the violated invariants.
 */

/** Sessions of the rules per session of the service, because the rules are so much faster. */
const RULES_PER_SERVICE = 10;
/**
 * Number of sessions with a violation after which the trial ends. One is not enough, because
 * another invariant may catch the bug first.
 */
const MAX_FAILED_SESSIONS = 5;

/** Sessions of both simulations in turn. `most`: the number of sessions of the whole service. */
function* alternatingSessions(most: number): Generator<Session> {
  for (let seed = 1; seed <= most; seed += 1) {
    for (let nth = 1; nth <= RULES_PER_SERVICE; nth += 1)
      yield { world: "rules", seed: (seed - 1) * RULES_PER_SERVICE + nth };
    yield { world: "service", seed };
  }
}

/** Simulates sessions until one violates `meant`; `null` means all sessions. */
async function simulateAll(sessions: Iterable<Session>, meant: string | null): Promise<Outcome> {
  const violated = new Set<string>();
  let first: Session | null = null;
  let failedSessions = 0;
  for (const session of sessions) {
    const { world, seed } = session;
    const violations = world === "service" ? await simulateService(seed) : simulateRules(seed);
    for (const invariant of violations) violated.add(invariant);
    if (violations.length > 0) failedSessions += 1;
    if (violations.length > 0) first ??= session;
    if (failedSessions === MAX_FAILED_SESSIONS || (meant !== null && violated.has(meant))) break;
  }
  return { first, invariants: [...violated] };
}

/** The violated invariants of a session of the whole service. */
async function simulateService(seed: number): Promise<string[]> {
  const { breaches } = await judge(situationOf(seed));
  return breaches.map(({ invariant, sentence }) =>
    invariant === "throws" ? `throws: ${sentence.split("\n")[0]}` : invariant,
  );
}

/** The violated invariants of a session of the rules. */
function simulateRules(seed: number): string[] {
  try {
    return verify(rulesSituationOf(seed)).problems.map((problem) =>
      problem.startsWith("#") ? "well-formed" : (problem.split(/[ :]/)[0] ?? problem),
    );
  } catch (error) {
    return [`throws: ${String(error).slice(0, 60)}`];
  }
}

const task = TaskSchema.parse(JSON.parse(process.argv[2] ?? ""));
const outcome =
  "sessions" in task
    ? await simulateAll(task.sessions, null)
    : await simulateAll(alternatingSessions(task.most), task.meant);
console.log(JSON.stringify(outcome));
