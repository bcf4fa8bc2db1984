import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Run } from "./run";

/** The folder of everything that campaigns keep. */
export const EVIDENCE = "node_modules/.cache/massgen-edge/faults";

/**
 * A failed case. `command`: repeats the case. `story`: details that the command does not contain.
 */
export type FailedCase = {
  name: string;
  command: string;
  problems: readonly string[];
  runs: readonly Run[];
  story?: object;
};

/**
 * Keeps the evidence of a failed case and returns its folder. `output`: what the service printed.
 */
export async function keepCase(
  { name, runs, story, ...details }: FailedCase,
  { output }: { output: string },
): Promise<string> {
  const folder = folderOf(name);
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, "case.json"),
    `${JSON.stringify({ ...details, ...story }, null, 2)}\n`,
  );
  await writeFile(path.join(folder, "service.log"), output);
  for (const [nth, run] of runs.entries())
    await keepRun(path.join(folder, `${nth + 1}-${run.name}`), run);
  return folder;
}

/**
 * Copies everything that a service wrote to a new folder. Returns this folder, and the given
 * command, which repeats the campaign.
 */
export async function keepStorage(
  problems: readonly string[],
  { storage, seed, command }: { storage: string; seed: number; command: string },
): Promise<{ folder: string; command: string }> {
  const folder = folderOf(`storage-${seed}`);
  const copy = path.join(folder, "storage");
  await cp(storage, copy, { recursive: true }).catch(async (error: unknown) => {
    // An incomplete copy is useless and may have filled the disk.
    await rm(copy, { recursive: true, force: true });
    throw error;
  });
  await writeFile(
    path.join(folder, "storage.json"),
    `${JSON.stringify({ command, problems }, null, 2)}\n`,
  );
  return { folder, command };
}

const folderOf = (name: string): string =>
  path.resolve(EVIDENCE, name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"));

/**
 * Writes the bytes that each client received, the requests to providers and tools, and the current
 * log. If the log cannot be read, writes the error.
 */
async function keepRun(prefix: string, run: Run): Promise<void> {
  for (const [nth, watcher] of run.watchers.entries())
    await writeFile(`${prefix}-client-${nth}.sse`, watcher.bytes);
  const requests = run.requests().map(({ headers: _, ...request }) => request);
  await writeFile(`${prefix}-requests.json`, `${JSON.stringify(requests, null, 2)}\n`);
  await writeFile(
    `${prefix}-tool-requests.json`,
    `${JSON.stringify(run.toolRequests(), null, 2)}\n`,
  );
  const log = await run.log().catch((error: unknown) => String(error));
  await writeFile(`${prefix}-log.json`, log);
}
