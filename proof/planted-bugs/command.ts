import { spawn } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { PlantedBug } from "./planted-bugs";
import { recordFigures } from "../record-figures";
import type { PlantedBugsArguments } from "./arguments";
import { bundlerOf } from "./bundle";
import { type Outcome, OutcomeSchema, type Session, type Task } from "./schema";

const FOLDER = path.resolve(`node_modules/.cache/massgen-edge/planted-bugs-${process.pid}`);
/** A bug that makes the simulation hang also counts as caught. */
const TEST_LIMIT_MS = 120_000;

type Row = PlantedBug & { outcome: Outcome; seconds: number };

/** Runs a bundle in a child process. A timeout counts as a hang. */
async function tryOut(file: string, task: Task): Promise<Outcome> {
  const trial = spawn(process.execPath, [file, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    trial.kill("SIGKILL");
  }, TEST_LIMIT_MS);
  let text = "";
  for await (const piece of trial.stdout.setEncoding("utf8")) text += piece;
  clearTimeout(late);
  if (isLate) return { first: { world: "rules", seed: 0 }, invariants: ["hangs"] };
  const result = text.trim().split("\n").at(-1);
  if (!result)
    throw new Error(
      `A trial ended without a result: ${path.basename(file)}. Run it again with --only and --jobs 1.`,
    );
  return OutcomeSchema.parse(JSON.parse(result));
}

function line({ name, invariant, outcome: { first, invariants }, seconds }: Row): string {
  const by = first ? `${first.world} seed ${first.seed}: ${invariants.join(" ")}` : "NOT CAUGHT";
  return `${invariant.padEnd(13)}${name.padEnd(74)}${seconds.toFixed(1).padStart(6)} s  ${by}`;
}

/** Bundles are built one after the other; trials run in parallel. */
async function plantAll(
  bugs: readonly PlantedBug[],
  pathOf: (nth: number) => Promise<string>,
  { sessions, jobs }: { sessions: number; jobs: number },
): Promise<Row[]> {
  const rows: Row[] = [];
  const left = [...bugs.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [nth, bug] = next;
      const file = await pathOf(nth);
      const started = performance.now();
      const outcome = await tryOut(file, { meant: bug.invariant, most: sessions });
      const row = { ...bug, outcome, seconds: (performance.now() - started) / 1_000 };
      rows.push(row);
      console.log(line(row));
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
  let bundling: Promise<unknown> = Promise.resolve();
  const write = (name: string, bug: PlantedBug | null): Promise<string> => {
    const file = path.join(FOLDER, `${name}.mjs`);
    const written = bundling.then(async () => writeFile(file, await bundler.bundle(bug)));
    bundling = written.catch(() => {});
    return written.then(() => file);
  };
  const rows = await plantAll(bugs, (nth) => write(`bug-${nth}`, bugs[nth] ?? null), limits);
  const sessions = rows.flatMap(({ outcome: { first } }): Session[] =>
    first && first.seed > 0 ? [first] : [],
  );
  const clean = await tryOut(await write("clean", null), { sessions });
  await bundler.close();
  await rm(FOLDER, { recursive: true, force: true });

  const caught = rows.filter(({ outcome }) => outcome.first !== null).length;
  const named = rows.filter(({ outcome, invariant }) =>
    outcome.invariants.includes(invariant),
  ).length;
  console.log(`\nplanted       ${rows.length}`);
  console.log(`caught        ${caught}`);
  console.log(`as meant      ${named}, by the intended invariant`);
  console.log(
    `false alarms  ${clean.first ? `${JSON.stringify(clean)} without any bug` : `0 in the ${sessions.length} sessions that caught`}`,
  );
  console.log(
    `seconds       ${((performance.now() - started) / 1_000).toFixed(0)} on ${limits.jobs} cores`,
  );
  if (isRecorded) {
    const data = { planted: rows.length, caught, asMeant: named };
    await recordFigures("campaigns", { "planted-bugs": { data } });
  }
  return caught === bugs.length && named === bugs.length && clean.first === null ? 0 : 1;
}
