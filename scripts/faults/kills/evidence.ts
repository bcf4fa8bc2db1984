import { cp, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { FaultyService } from "../faulty-service";
import type { Outcome, Plan } from "./case";
import { nameOf } from "./points";
import type { Run } from "../runs/run";

const EVIDENCE = "node_modules/.cache/massgen-edge/faults";

/** Keeps what is needed to understand a case that failed and to play it again; gives where it lies, and the command. */
export async function keepEvidence(outcome: Outcome, service: FaultyService): Promise<{ folder: string; command: string }> {
  const { plan, runs, killed, problems } = outcome;
  const folder = path.resolve(EVIDENCE, `case-${plan.seed}`);
  const command = commandOf(plan);
  await mkdir(folder, { recursive: true });
  const story = { command, plan, killed: killed.map(({ where, healthyMs }) => ({ where, healthyMs })), problems };
  await writeFile(path.join(folder, "case.json"), `${JSON.stringify(story, null, 2)}\n`);
  await writeFile(path.join(folder, "service.log"), service.output);
  for (const [nth, run] of runs.entries()) await keepRun(path.join(folder, `${nth + 1}-${run.name}`), run);
  return { folder, command };
}

/** Keeps the databases in which a tenant's books do not agree with what its runs came to; gives where they lie, and the command. */
export async function keepBooks(
  problems: readonly string[],
  { storage, seed, command }: { storage: string; seed: number; command: string },
): Promise<{ folder: string; command: string }> {
  const folder = path.resolve(EVIDENCE, `books-${seed}`);
  await cp(path.join(storage, "do"), path.join(folder, "do"), { recursive: true });
  await writeFile(path.join(folder, "books.json"), `${JSON.stringify({ command, problems }, null, 2)}\n`);
  return { folder, command };
}

/** What each of its clients got, the log as it is now if there still is one, and what reached the providers. */
async function keepRun(prefix: string, run: Run): Promise<void> {
  for (const [nth, watcher] of run.watchers.entries()) await writeFile(`${prefix}-client-${nth}.sse`, watcher.bytes);
  const requests = run.requests().map(({ headers: _, ...request }) => request);
  await writeFile(`${prefix}-requests.json`, `${JSON.stringify(requests, null, 2)}\n`);
  const log = await run.log().catch((error: unknown) => String(error));
  await writeFile(`${prefix}-log.json`, log);
}

/** The command that plays this plan again. Moments are those of the seed; what the machine makes of them may differ. */
export function commandOf({ seed, kinds, kills }: Plan): string {
  const at = kills.map((kill) => ("point" in kill ? nameOf(kill) : `${kill.afterMs}ms`));
  return `npm run faults -- --seed ${seed} --runs ${kinds.join(",")} --at ${at.join(",")}`;
}
