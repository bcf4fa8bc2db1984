import { access, writeFile } from "node:fs/promises";
import path from "node:path";
import { stateHash } from "../tests/golden/canonical";
import { play } from "../tests/simulation/world/scripted-world";
import { STORIES } from "../tests/simulation/world/stories";
import { inspect } from "../tests/simulation/world/verify";

/**
 * Records the golden session logs: `npx node scripts/run.mjs scripts/golden-record.ts`. A recorded log stands for what older releases wrote,
 * so it is never changed in passing: only `--force` overwrites, and only stories that keep every invariant are recorded.
 */

const FOLDER = path.resolve("tests/golden");

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Writes one story's log and answers the hash of the state it folds to. */
async function record(name: string, force: boolean): Promise<void> {
  const log = path.join(FOLDER, `${name}.jsonl`);
  if (!force && (await exists(log))) {
    console.log(`kept      ${name}`);
    return;
  }
  const script = STORIES[name];
  if (!script) throw new Error(`There is no story named ${name}.`);
  const shell = play(script);
  const problems = inspect(shell);
  if (problems.length > 0) throw new Error(`${name} is not fit to be recorded:\n${problems.join("\n")}`);
  await writeFile(log, `${shell.log.map((event) => JSON.stringify(event)).join("\n")}\n`);
  await writeFile(path.join(FOLDER, `${name}.sha256`), `${stateHash(shell.state)}\n`);
  console.log(`recorded  ${name}: ${shell.log.length} events`);
}

const names = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const force = process.argv.includes("--force");
for (const name of names.length > 0 ? names : Object.keys(STORIES)) await record(name, force);
