import { spawn } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { PLANTED_BUGS, type PlantedBug } from "../tests/simulation/planted-bugs";
import { bundleWith } from "./planted-bugs/bundle";
import { type Outcome, OutcomeSchema } from "./planted-bugs/schema";

/**
 * Plants one small wrong after the other and lets the simulation look for it: `npm run planted-bugs [-- --only text]`. The working
 * tree is never touched: the text is changed while a copy of the code is bundled. Ends with 1 if a bug was not caught.
 */

const { values } = parseArgs({ options: { only: { type: "string", default: "" }, seeds: { type: "string", default: "400" } } });
const FOLDER = path.resolve("node_modules/.cache/massgen-edge/planted-bugs");
/** A bug that makes the simulation hang was noticed, too. */
const PATIENCE_MS = 120_000;

type Row = PlantedBug & { outcome: Outcome; seconds: number };

async function plant(bug: PlantedBug | null, nth: number): Promise<Outcome> {
  const file = path.join(FOLDER, `trial-${nth}.mjs`);
  await writeFile(file, await bundleWith("scripts/planted-bugs/trial.ts", bug));
  const told = await output(file);
  return OutcomeSchema.parse(JSON.parse(told));
}

/** What a trial prints last; a trial that takes too long has found that nothing ends any more. */
async function output(file: string): Promise<string> {
  const trial = spawn(process.execPath, [file, values.seeds], { stdio: ["ignore", "pipe", "inherit"] });
  const late = setTimeout(() => trial.kill("SIGKILL"), PATIENCE_MS);
  let text = "";
  for await (const piece of trial.stdout.setEncoding("utf8")) text += piece;
  clearTimeout(late);
  return text.trim().split("\n").at(-1) || JSON.stringify({ caught: true, world: "any", seed: 0, invariants: ["hangs"] });
}

function line({ name, invariant, outcome, seconds }: Row): string {
  const { caught, world, seed, invariants } = outcome;
  const by = caught ? `${world} seed ${seed}: ${invariants.join(" ")}` : "NOT CAUGHT";
  return `${invariant.padEnd(13)}${name.padEnd(74)}${seconds.toFixed(1).padStart(6)} s  ${by}`;
}

await mkdir(FOLDER, { recursive: true });
const bugs = PLANTED_BUGS.filter(({ name, invariant }) => `${invariant} ${name}`.includes(values.only));
const clean = await plant(null, 0);
if (clean.caught) {
  console.log(`Without any planted bug the simulation fails already: ${JSON.stringify(clean)}`);
  process.exit(1);
}
const rows: Row[] = [];
for (const [nth, bug] of bugs.entries()) {
  const started = performance.now();
  const outcome = await plant(bug, nth + 1);
  rows.push({ ...bug, outcome, seconds: (performance.now() - started) / 1_000 });
  console.log(line(rows[nth] ?? { ...bug, outcome, seconds: 0 }));
}
await rm(FOLDER, { recursive: true, force: true });
const caught = rows.filter(({ outcome }) => outcome.caught).length;
const named = rows.filter(({ outcome, invariant }) => outcome.invariants.includes(invariant)).length;
console.log(`\nplanted  ${rows.length}\ncaught   ${caught}\nby the invariant it was meant for  ${named}`);
process.exitCode = caught === rows.length ? 0 : 1;
