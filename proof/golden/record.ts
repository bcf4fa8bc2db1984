import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { LOG_VERSION } from "../../src/protocol/events";
import { emptySession, evolve } from "../../src/coordination";
import { SessionEventSchema } from "../../src/protocol/events";
import { stateHash } from "./canonical";
import { play } from "../simulation/world/scripted-world";
import { SCRIPTS } from "../simulation/world/scripts";
import { inspect } from "../simulation/world/verify";

/**
 * Records the golden session logs: `npm exec -c "node scripts/run.mjs proof/golden/record.ts [name
 * …] [--force | --rehash]"`. A recorded log represents logs of older releases, so only `--force`
 * overwrites it. Only scripts that keep every invariant are recorded. `--rehash` keeps the logs and
 * recomputes the state hashes, after a field was added to the state.
 */

/**
 * Logs of the current version. Logs of earlier versions are in other folders and are never recorded
 * again.
 */
const FOLDER = path.resolve(`proof/golden/v${LOG_VERSION}`);

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Writes one script's log and the hash of its fold. */
async function record(name: string, force: boolean): Promise<void> {
  const log = path.join(FOLDER, `${name}.jsonl`);
  if (!force && (await exists(log))) {
    console.log(`kept      ${name}`);
    return;
  }
  const script = SCRIPTS[name];
  if (!script) throw new Error(`There is no script named ${name}.`);
  const shell = play(script);
  const problems = inspect(shell);
  if (problems.length > 0)
    throw new Error(
      `${name} is not recorded because it violates invariants:\n${problems.join("\n")}`,
    );
  await writeFile(log, `${shell.log.map((event) => JSON.stringify(event)).join("\n")}\n`);
  await writeFile(path.join(FOLDER, `${name}.sha256`), `${stateHash(shell.state)}\n`);
  console.log(`recorded  ${name}: ${shell.log.length} events`);
}

/** Computes the state hash of a recorded log again, and writes it. */
async function rehash(name: string): Promise<void> {
  const text = await readFile(path.join(FOLDER, `${name}.jsonl`), "utf8");
  const events = text
    .trimEnd()
    .split("\n")
    .map((line) => SessionEventSchema.parse(JSON.parse(line)));
  await writeFile(
    path.join(FOLDER, `${name}.sha256`),
    `${stateHash(events.reduce(evolve, emptySession))}\n`,
  );
  console.log(`rehashed  ${name}`);
}

await mkdir(FOLDER, { recursive: true });
const names = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
for (const name of names.length > 0 ? names : Object.keys(SCRIPTS)) {
  if (process.argv.includes("--rehash")) await rehash(name);
  else await record(name, process.argv.includes("--force"));
}
