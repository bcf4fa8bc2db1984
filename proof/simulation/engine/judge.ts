import { loadFormats } from "../../../src/providers/registry";
import { hashesOf } from "./facts";
import { narrate } from "../world/narrate";
import { type Breach, breaches } from "./invariants";
import { runEngine, type DiskChange } from "./run";
import type { RunRecord } from "./run-record";
import { type EngineSituation, situationOf } from "./engine-situation";

/** `run` is `null` if the run threw. `hash` is of the log's bytes, `facts` without its texts. */
type RunVerdict = {
  run: RunRecord | null;
  breaches: Breach[];
  hash: string;
  facts: string;
};

/**
 * Runs a situation and checks every invariant. If the run or a check throws, there is one breach:
 * `throws`.
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

/** Maximum number of runs, and maximum time in ms, for shrinking a failing run. */
const MAX_RUNS = 400;
const MAX_MS = 60_000;

/**
 * Finds a smaller situation with the same breach: fewer agents, habits, kinds of faults, and single
 * strikes. Each step must break the same invariant again.
 */
export async function shrink(
  situation: EngineSituation,
  invariant: string,
): Promise<EngineSituation> {
  let left = MAX_RUNS;
  const until = performance.now() + MAX_MS;
  const fails = async (candidate: EngineSituation): Promise<boolean> => {
    left = performance.now() > until ? 0 : left - 1;
    return (
      left > 0 && (await judge(candidate)).breaches.some((breach) => breach.invariant === invariant)
    );
  };
  let best = situation;
  for (let before: EngineSituation | null = null; before !== best && left > 0; ) {
    before = best;
    for (const candidate of smaller(best)) {
      if (left > 0 && (await fails(candidate))) {
        best = candidate;
        break;
      }
    }
  }
  return left > 0 ? withFewStrikes(best, fails) : best;
}

function* smaller(situation: EngineSituation): Generator<EngineSituation> {
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

/** Removes single strikes, starting with the last. */
async function withFewStrikes(
  situation: EngineSituation,
  fails: (candidate: EngineSituation) => Promise<boolean>,
): Promise<EngineSituation> {
  const { run } = await judge(situation);
  if (!run) return situation; // no record of the strikes
  let strikes = run.faults.struck.map(({ nth }) => nth);
  for (const nth of strikes.toReversed()) {
    const fewer = strikes.filter((other) => other !== nth);
    if (await fails({ ...situation, strikes: fewer })) strikes = fewer;
  }
  const lean = { ...situation, strikes };
  return (await fails(lean)) ? lean : situation;
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
