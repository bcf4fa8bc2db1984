import { spawn } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { PlantedBug } from "./planted-bugs";
import { recordFigures } from "../record-figures";
import type { PlantedBugsArguments } from "./arguments";
import { bundlerOf } from "./bundle";
import { type Outcome, OutcomeSchema, type Session, type Task } from "./schema";

const FOLDER = path.resolve(`node_modules/.cache/massgen-edge/planted-bugs-${process.pid}`);
/** Time limit of a trial. A bug that makes the simulation hang also counts as caught. */
const TRIAL_LIMIT_MS = 120_000;
/** What a trial that reached its limit has found without another result. */
const NO_RESULT: Outcome = { first: null, invariants: [] };

type Row = PlantedBug & { outcome: Outcome; seconds: number };

/**
 * Runs a bundle in a child process. A timeout counts as a violation with the name `hangs`, besides
 * those that were found before.
 */
async function runTrial(file: string, task: Task): Promise<Outcome> {
  const trial = spawn(process.execPath, [file, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let isTimedOut = false;
  const timeout = setTimeout(() => {
    isTimedOut = true;
    trial.kill("SIGKILL");
  }, TRIAL_LIMIT_MS);
  let text = "";
  for await (const piece of trial.stdout.setEncoding("utf8")) text += piece;
  clearTimeout(timeout);
  const lines = text.split("\n").slice(0, -1);
  const result = lines.at(-1);
  if (isTimedOut) {
    const { first, invariants } = result ? OutcomeSchema.parse(JSON.parse(result)) : NO_RESULT;
    return {
      first: first ?? { world: "rules", seed: 0 },
      invariants: [...invariants, "hangs"],
    };
  }
  if (!result)
    throw new Error(
      `A trial ended without a result: ${path.basename(file)}. Run it again with --only and --jobs 1.`,
    );
  return OutcomeSchema.parse(JSON.parse(result));
}

function lineOf({ name, invariant, outcome: { first, invariants }, seconds }: Row): string {
  const by = first ? `${first.world} seed ${first.seed}: ${invariants.join(" ")}` : "NOT CAUGHT";
  return `${invariant.padEnd(15)}${name.padEnd(74)}${seconds.toFixed(1).padStart(6)} s  ${by}`;
}

/**
 * Tries the bugs in `jobs` parallel trials and prints a line for each bug. `bundleWith`: builds the
 * bundle with the nth bug, and returns its path.
 */
async function plantAll(
  bugs: readonly PlantedBug[],
  bundleWith: (nth: number) => Promise<string>,
  { sessions, jobs }: { sessions: number; jobs: number },
): Promise<Row[]> {
  const rows: Row[] = [];
  const pending = [...bugs.entries()];
  const work = async (): Promise<void> => {
    for (let next = pending.shift(); next; next = pending.shift()) {
      const [nth, bug] = next;
      const file = await bundleWith(nth);
      const started = performance.now();
      const { invariant: meant, habits = [] } = bug;
      const outcome = await runTrial(file, { meant, most: sessions, habits: [...habits] });
      const row = { ...bug, outcome, seconds: (performance.now() - started) / 1_000 };
      rows.push(row);
      console.log(lineOf(row));
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return rows;
}

/** Plants the bugs, prints the figures, and returns the exit code. */
export async function judgeAll({
  bugs,
  isRecorded,
  ...limits
}: PlantedBugsArguments): Promise<number> {
  const started = performance.now();
  await mkdir(FOLDER, { recursive: true });
  const bundler = await bundlerOf("proof/planted-bugs/trial.ts");
  // A bundler holds one bug, so bundles are written one after another.
  let previousWrite: Promise<unknown> = Promise.resolve();
  const writeBundle = (name: string, bug: PlantedBug | null): Promise<string> => {
    const file = path.join(FOLDER, `${name}.mjs`);
    const write = previousWrite.then(async () => writeFile(file, await bundler.bundle(bug)));
    previousWrite = write.catch(() => {});
    return write.then(() => file);
  };
  const bundleWith = (nth: number) => writeBundle(`bug-${nth}`, bugs[nth] ?? null);
  const rows = await plantAll(bugs, bundleWith, limits);
  const catchingSessions = rows.flatMap(({ outcome: { first } }): Session[] =>
    first && first.seed > 0 ? [first] : [],
  );
  // Without a bug, the same sessions must violate no invariant.
  const clean = await runTrial(await writeBundle("clean", null), { sessions: catchingSessions });
  await bundler.close();
  await rm(FOLDER, { recursive: true, force: true });

  const caught = rows.filter(({ outcome }) => outcome.first !== null).length;
  const caughtAsMeant = rows.filter(({ outcome, invariant }) =>
    outcome.invariants.includes(invariant),
  ).length;
  console.log(`\nplanted       ${rows.length}`);
  console.log(`caught        ${caught}`);
  console.log(`as meant      ${caughtAsMeant}, by the intended invariant`);
  console.log(
    `false alarms  ${clean.first ? `${JSON.stringify(clean)} without any bug` : `0 in the ${catchingSessions.length} sessions that had caught a bug`}`,
  );
  console.log(
    `seconds       ${((performance.now() - started) / 1_000).toFixed(0)} on ${limits.jobs} cores`,
  );
  if (isRecorded) {
    const data = { planted: rows.length, caught, asMeant: caughtAsMeant };
    await recordFigures("campaigns", { "planted-bugs": { data } });
  }
  return caught === bugs.length && caughtAsMeant === bugs.length && clean.first === null ? 0 : 1;
}
