import { judge, situationOf } from "../simulation/engine/judge";
import { rulesSituationOf } from "../simulation/world/rules-situation";
import { verify } from "../simulation/world/verify";
import type { Habit } from "../simulation/engine/habits";
import { FILE_HISTORIES, type Outcome, type Session, type Task, TaskSchema } from "./schema";

/**
 * Simulates the bundled code, with sessions of the rules and of the whole service in turn, or with
 * those sessions of the service that can reveal the bug. Prints the violated invariants after each
 * session that violates one, and at the end. Bugs of the command line are tried with histories of
 * files.
 */

/** Sessions of the rules per session of the service, because the rules are so much faster. */
const RULES_PER_SERVICE = 10;
/**
 * Number of sessions with a violation after which the trial ends. One is not enough, because
 * another invariant may catch the bug first.
 */
const MAX_FAILED_SESSIONS = 5;
/** Number of seeds among which sessions with certain habits are searched. */
const MOST_SEEDS = 100_000;

/** Sessions of both simulations in turn. `most`: the number of sessions of the whole service. */
function* alternatingSessions(most: number): Generator<Session> {
  for (let seed = 1; seed <= most; seed += 1) {
    for (let nth = 1; nth <= RULES_PER_SERVICE; nth += 1)
      yield { world: "rules", seed: (seed - 1) * RULES_PER_SERVICE + nth };
    yield { world: "service", seed };
  }
}

/** Sessions of the service with these habits. */
function* sessionsWith(habits: readonly Habit[], most: number): Generator<Session> {
  let found = 0;
  for (let seed = 1; seed <= MOST_SEEDS && found < most; seed += 1) {
    const { habits: drawn } = situationOf(seed);
    if (!habits.every((habit) => drawn.includes(habit))) continue;
    found += 1;
    yield { world: "service", seed };
  }
}

/** Histories of files, of normal use and of all operations in turn. */
function* fileHistories(most: number): Generator<Session> {
  for (let seed = 1; seed <= most; seed += 1) yield { world: "files", seed };
}

/** Simulates sessions until one violates `meant`; `null` means all sessions. */
async function simulateAll(sessions: Iterable<Session>, meant: string | null): Promise<Outcome> {
  const violated = new Set<string>();
  let first: Session | null = null;
  let failedSessions = 0;
  for (const session of sessions) {
    const { world, seed } = session;
    const violations = await SIMULATIONS[world](seed);
    for (const invariant of violations) violated.add(invariant);
    if (violations.length > 0) failedSessions += 1;
    if (violations.length > 0) {
      first ??= session;
      print({ first, invariants: [...violated] });
    }
    if (failedSessions === MAX_FAILED_SESSIONS || (meant !== null && violated.has(meant))) break;
  }
  return { first, invariants: [...violated] };
}

const print = (outcome: Outcome): void => console.log(JSON.stringify(outcome));

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

/** Whether a history of files differs from its prediction. */
async function playHistory(seed: number): Promise<string[]> {
  // loaded only for these bugs, because it loads the command line and the API
  const { problemOfSeed } = await import("./file-history");
  return (await problemOfSeed(seed)) === null ? [] : [FILE_HISTORIES];
}

const SIMULATIONS: Record<Session["world"], (seed: number) => string[] | Promise<string[]>> = {
  service: simulateService,
  rules: simulateRules,
  files: playHistory,
};

type Trial = Extract<Task, { meant: string }>;

function sessionsFor({ meant, most, habits }: Trial): Iterable<Session> {
  if (meant === FILE_HISTORIES) return fileHistories(most);
  return habits.length > 0 ? sessionsWith(habits, most) : alternatingSessions(most);
}

const task = TaskSchema.parse(JSON.parse(process.argv[2] ?? ""));
const outcome =
  "sessions" in task
    ? await simulateAll(task.sessions, null)
    : await simulateAll(sessionsFor(task), task.meant);
print(outcome);
