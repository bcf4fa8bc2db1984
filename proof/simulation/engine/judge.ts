import { loadFormats } from "../../../src/providers/registry";
import { hashesOf } from "./facts";
import { narrate } from "../world/narrate";
import { type Breach, breaches } from "./invariants";
import { runEngine, type DiskChange } from "./run";
import type { RunRecord } from "./run-record";
import { type EngineSituation, situationOf } from "./engine-situation";

/**
 * The result of a run. `run`: `null` if the run threw. `hash`: the hash of the log's bytes.
 * `facts`: the hash of the log without texts for people.
 */
type RunVerdict = {
  run: RunRecord | null;
  breaches: Breach[];
  hash: string;
  facts: string;
};

/**
 * Runs a situation and checks every invariant. If the run or a check throws, the verdict has one
 * breach with the name `throws`.
 */
export async function judge(situation: EngineSituation): Promise<RunVerdict> {
  let run: RunRecord | null = null;
  try {
    run = await play(situation);
    const { bytes, facts } = hashesOf(run);
    return { run, breaches: breaches(run), hash: bytes, facts };
  } catch (error) {
    const sentence = error instanceof Error ? (error.stack ?? String(error)) : String(error);
    const breach = { invariant: "throws", at: 0, sentence };
    return { run, breaches: [breach], hash: "threw", facts: "threw" };
  }
}

/** Runs a situation without checking it. */
export async function play(
  situation: EngineSituation,
  changeDisk?: DiskChange,
): Promise<RunRecord> {
  await loadFormats();
  return runEngine(situation, changeDisk);
}

/** Maximum number of runs, and maximum time, to shrink a failing run. */
const MAX_RUNS = 400;
const MAX_MS = 60_000;

/**
 * Finds a smaller situation that violates the same invariant. Removes agents, habits, kinds of
 * faults and single strikes, as long as the invariant is still violated.
 */
export async function shrink(
  situation: EngineSituation,
  invariant: string,
): Promise<EngineSituation> {
  let runsLeft = MAX_RUNS;
  const until = performance.now() + MAX_MS;
  const fails = async (candidate: EngineSituation): Promise<boolean> => {
    runsLeft = performance.now() > until ? 0 : runsLeft - 1;
    if (runsLeft === 0) return false;
    const verdict = await judge(candidate);
    return verdict.breaches.some((breach) => breach.invariant === invariant);
  };
  let best = situation;
  for (let previous: EngineSituation | null = null; previous !== best && runsLeft > 0; ) {
    previous = best;
    for (const candidate of smallerSituations(best)) {
      if (runsLeft > 0 && (await fails(candidate))) {
        best = candidate;
        break;
      }
    }
  }
  return runsLeft > 0 ? removeStrikes(best, fails) : best;
}

/** The situation with one part removed, in each possible way. */
function* smallerSituations(situation: EngineSituation): Generator<EngineSituation> {
  const { agents, habits, faults } = situation;
  if (agents > 1) yield { ...situation, agents: 1 };
  if (agents > 2) yield { ...situation, agents: agents - 1 };
  if (faults.length > 3)
    yield { ...situation, faults: faults.slice(0, Math.floor(faults.length / 2)) };
  if (faults.length > 3)
    yield { ...situation, faults: faults.slice(Math.floor(faults.length / 2)) };
  for (const fault of faults)
    yield { ...situation, faults: faults.filter((other) => other !== fault) };
  for (const habit of habits)
    yield { ...situation, habits: habits.filter((other) => other !== habit) };
}

/** Removes as many single strikes as possible, starting with the last strike. */
async function removeStrikes(
  situation: EngineSituation,
  fails: (candidate: EngineSituation) => Promise<boolean>,
): Promise<EngineSituation> {
  const { run } = await judge(situation);
  if (!run) return situation; // The run threw, so its strikes are unknown.
  let strikes = run.faults.struck.map(({ nth }) => nth);
  for (const nth of strikes.toReversed()) {
    const fewer = strikes.filter((other) => other !== nth);
    if (await fails({ ...situation, strikes: fewer })) strikes = fewer;
  }
  const smaller = { ...situation, strikes };
  return (await fails(smaller)) ? smaller : situation;
}

/** A readable report of a failing run. */
export function report(situation: EngineSituation, { run, breaches: found }: RunVerdict): string {
  const violations = found
    .slice(0, 5)
    .map(({ invariant, at, sentence }) => `${invariant}${at > 0 ? ` at #${at}` : ""}: ${sentence}`);
  const { agents, habits } = situation;
  const shrunk = `shrunk to ${agents} agents, habits [${habits.join(" ")}]`;
  if (!run)
    return [
      ...violations,
      "",
      `${shrunk}, faults [${situation.faults.join(" ")}]; the run threw an error`,
    ].join("\n");
  const { faults, startedAt } = run;
  const struck = faults.struck.map(
    ({ fault, at, head }) => `  +${at - startedAt} ms, after #${head}: ${fault}`,
  );
  return [
    ...violations,
    "",
    `${shrunk}, ${faults.struck.length} strikes:`,
    ...struck,
    "",
    narrate(run.log),
  ].join("\n");
}

export { situationOf };
