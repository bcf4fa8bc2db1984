import { judge, situationOf } from "../../tests/simulation/engine/judge";
import { rulesSituationOf } from "../../tests/simulation/world/situation";
import { verify } from "../../tests/simulation/world/verify";
import type { Outcome } from "./schema";

/** Looks for whatever is wrong with the code it is bundled with, in both simulated worlds by turns, and says what it found first. */

const most = Number(process.argv[2]);
/** Sessions of the rules alone for one of the whole service: they are quicker. */
const RULES_PER_SERVICE = 2;
/** An invariant that sees the bug first may not be the one it was meant for: a few more sessions tell. */
const BREACHES = 3;

async function look(): Promise<Outcome> {
  const found = new Set<string>();
  let first: { world: string; seed: number } | null = null;
  let times = 0;
  for (let seed = 1; seed <= most && times < BREACHES; seed += 1) {
    const service = seed % (RULES_PER_SERVICE + 1) === 0;
    const broken = service ? await ofService(seed) : ofRules(seed);
    for (const invariant of broken) found.add(invariant);
    if (broken.length > 0) times += 1;
    if (broken.length > 0) first ??= { world: service ? "service" : "rules", seed };
  }
  return { caught: first !== null, world: first?.world ?? "", seed: first?.seed ?? 0, invariants: [...found] };
}

async function ofService(seed: number): Promise<string[]> {
  try {
    return (await judge(situationOf(seed))).breaches.map(({ invariant }) => invariant);
  } catch (error) {
    return [`throws: ${String(error)}`];
  }
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

console.log(JSON.stringify(await look()));
