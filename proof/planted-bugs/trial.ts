import { judge, situationOf } from "../simulation/engine/judge";
import { rulesSituationOf } from "../simulation/world/rules-situation";
import { verify } from "../simulation/world/verify";
import { type Outcome, type Session, TaskSchema } from "./schema";

/**
 * Simulates the bundled code, alternating between both simulations, and prints the violations
 * found.
 */

/**
 * Sessions of the rules alone for each session of the whole service: they are faster by this
 * factor.
 */
const RULES_PER_SERVICE = 10;
/** Another invariant may catch the bug first, so a few more sessions are simulated. */
const BREACHES = 5;

/** `most` counts the sessions of the whole service. */
function* byTurns(most: number): Generator<Session> {
  for (let seed = 1; seed <= most; seed += 1) {
    for (let nth = 1; nth <= RULES_PER_SERVICE; nth += 1)
      yield { world: "rules", seed: (seed - 1) * RULES_PER_SERVICE + nth };
    yield { world: "service", seed };
  }
}

async function look(sessions: Iterable<Session>, meant: string | null): Promise<Outcome> {
  const found = new Set<string>();
  let first: Session | null = null;
  let times = 0;
  for (const session of sessions) {
    const broken =
      session.world === "service" ? await ofService(session.seed) : ofRules(session.seed);
    for (const invariant of broken) found.add(invariant);
    if (broken.length > 0) times += 1;
    if (broken.length > 0) first ??= session;
    if (times === BREACHES || (meant !== null && found.has(meant))) break;
  }
  return { first, invariants: [...found] };
}

async function ofService(seed: number): Promise<string[]> {
  const { breaches } = await judge(situationOf(seed));
  return breaches.map(({ invariant, sentence }) =>
    invariant === "throws" ? `throws: ${sentence.split("\n")[0]}` : invariant,
  );
}

function ofRules(seed: number): string[] {
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
  "sessions" in task ? await look(task.sessions, null) : await look(byTurns(task.most), task.meant);
console.log(JSON.stringify(outcome));
