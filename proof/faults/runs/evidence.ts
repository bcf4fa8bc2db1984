import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Run } from "./run";

const EVIDENCE = "node_modules/.cache/massgen-edge/faults";

/** Something that failed. `story`: what was done, as far as the command does not say it. */
export type Failed = {
  name: string;
  command: string;
  problems: readonly string[];
  runs: readonly Run[];
  story?: object;
};

/** Keeps what is needed to understand it and to play it again; gives where it lies. `output`: what the service printed. */
export async function keepCase(
  { name, runs, story, ...said }: Failed,
  { output }: { output: string },
): Promise<string> {
  const folder = folderOf(name);
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, "case.json"),
    `${JSON.stringify({ ...said, ...story }, null, 2)}\n`,
  );
  await writeFile(path.join(folder, "service.log"), output);
  for (const [nth, run] of runs.entries())
    await keepRun(path.join(folder, `${nth + 1}-${run.name}`), run);
  return folder;
}

/** Keeps all that a service has written, where that is wrong as a whole; gives where it lies, and the command. */
export async function keepStorage(
  problems: readonly string[],
  { storage, seed, command }: { storage: string; seed: number; command: string },
): Promise<{ folder: string; command: string }> {
  const folder = folderOf(`storage-${seed}`);
  const copy = path.join(folder, "storage");
  await cp(storage, copy, { recursive: true }).catch(async (error: unknown) => {
    await rm(copy, { recursive: true, force: true }); // half of it tells nothing, and may have filled the disk
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

/** What each of its clients got, the log as it is now if there still is one, and what reached the providers and the tools. */
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
