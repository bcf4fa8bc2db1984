import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { sha256 } from "../sha256";
import { type BundleRecord, BundledSchema } from "../schema";
import { writeMeteredShell } from "./shell/write";
import { buildWorker } from "./worker-build";

export const CONFIG = "wrangler.toml";
const CACHE_FOLDER = "node_modules/.cache/massgen-edge/bundles";
/** A bundle also depends on the tools that build it. Their versions are in the lockfile. */
const TOOLS = ["local/bundle/worker-build.ts", "package-lock.json", "tsconfig.json"];
const RECORD_FILE = "record.json";
/** A bundle is removed if it was not used for this time. */
const MAX_UNUSED_MS = 24 * 60 * 60 * 1_000;

/**
 * Builds the Worker as a deployment does, and returns the folder of its modules. Building takes
 * seconds, and a test run starts dozens of services, so a bundle is reused while all its input
 * files are unchanged. Callers must not change the folder. `entry` replaces the service's own.
 * `isReadable`: whether all names stay as in the source, for profiles.
 */
export async function bundleOf(entry = "src/worker.ts", isReadable = false): Promise<string> {
  writeMeteredShell();
  const key = sha256(`${entry}\n${isReadable ? "readable" : ""}`).slice(0, 16);
  const entryFolder = path.join(CACHE_FOLDER, key);
  const newest = await newestOf(entryFolder);
  if (newest !== null && (await isCurrent(newest))) {
    await utimes(newest, new Date(), new Date());
    return newest;
  }
  return await build(entryFolder, { entry, isReadable });
}

async function build(
  entryFolder: string,
  input: { entry: string; isReadable: boolean },
): Promise<string> {
  const startedAt = Date.now();
  const temporaryFolder = path.join(`${entryFolder}-draft`, randomUUID());
  await mkdir(path.dirname(temporaryFolder), { recursive: true });
  const { inputs } = await buildWorker({ ...input, folder: temporaryFolder, sourceMaps: false });
  const files = [...TOOLS, ...Object.keys(inputs)];
  const hash = await hashOf(files);
  // If an input file changed during the build, the bundle may contain its old or its new state.
  // Such a bundle is used once: its hash is null.
  const record: BundleRecord = {
    files,
    hash: (await newestChange(files)) < startedAt ? hash : null,
  };
  await writeFile(path.join(temporaryFolder, RECORD_FILE), JSON.stringify(record));
  await mkdir(entryFolder, { recursive: true });
  const bundleFolder = path.join(entryFolder, path.basename(temporaryFolder));
  await rename(temporaryFolder, bundleFolder);
  await removeOld();
  return bundleFolder;
}

/** The most recently used bundle of an entry; `null` if there is none. */
async function newestOf(entryFolder: string): Promise<string | null> {
  const all = await foldersIn(entryFolder);
  return all.sort((a, b) => b.usedAt - a.usedAt)[0]?.folder ?? null;
}

async function isCurrent(folder: string): Promise<boolean> {
  const text = await readFile(path.join(folder, RECORD_FILE), "utf8").catch(() => null);
  if (text === null) return false;
  const { files, hash } = BundledSchema.parse(JSON.parse(text));
  return hash !== null && (await hashOf(files)) === hash;
}

/** Removes unused bundles of every entry, and temporary folders of failed builds. */
async function removeOld(): Promise<void> {
  for (const { folder: entryFolder } of await foldersIn(CACHE_FOLDER)) {
    for (const { folder, usedAt } of await foldersIn(entryFolder)) {
      if (Date.now() - usedAt > MAX_UNUSED_MS) await rm(folder, { recursive: true, force: true });
    }
  }
}

async function foldersIn(entryFolder: string): Promise<{ folder: string; usedAt: number }[]> {
  const names = await readdir(entryFolder).catch(() => []);
  const folders = names.map(async (name) => {
    const folder = path.join(entryFolder, name);
    return stat(folder).then(
      ({ mtimeMs }) => [{ folder, usedAt: mtimeMs }],
      () => [], // another process removed it
    );
  });
  return (await Promise.all(folders)).flat();
}

/** Hash of names and contents; `null` if a file cannot be read. */
async function hashOf(files: readonly string[]): Promise<string | null> {
  const hashes = files.map(async (file) => `${sha256(await readFile(file))} ${file}`);
  return Promise.all(hashes).then(
    (all) => sha256(all.join("\n")),
    () => null,
  );
}

/** Latest modification time of the files, in Unix milliseconds; infinite if a file is missing. */
async function newestChange(files: readonly string[]): Promise<number> {
  const times = files.map((file) =>
    stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    ),
  );
  return Math.max(...(await Promise.all(times)));
}
