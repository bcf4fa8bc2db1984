import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { sha256 } from "../sha256";
import { writeMeteredShell } from "./shell/write";
import { wranglerQuietly } from "./wrangler";
import { type BundleRecord, BundledSchema, MetafileSchema } from "../schema";

export const CONFIG = "wrangler.toml";
const CACHE_FOLDER = "node_modules/.cache/massgen-edge/bundles";
/** A bundle also depends on the tools that build it. Their versions are in the lockfile. */
const TOOLS = [CONFIG, "package-lock.json", "tsconfig.json"];
/** The folder of text modules. Wrangler bundles them, but esbuild does not list them as inputs. */
const TEXT_FOLDER = "configs";
const RECORD_FILE = "record.json";
/** A bundle is removed if it was not used for this time. */
const MAX_UNUSED_MS = 24 * 60 * 60 * 1_000;

/**
 * Bundles the Worker as a deployment does, and returns the folder of the bundle. Bundling takes
 * seconds, and a test run starts dozens of services, so a bundle is reused while all its input
 * files are unchanged. Callers must not change the folder. `entry` replaces `main` of
 * wrangler.toml.
 */
export async function bundleOf(entry?: string): Promise<string> {
  writeMeteredShell();
  const entryFolder = path.join(CACHE_FOLDER, sha256(`${entry ?? ""}\n`).slice(0, 16));
  const newest = await newestOf(entryFolder);
  if (newest !== null && (await isCurrent(newest))) {
    await utimes(newest, new Date(), new Date());
    return newest;
  }
  return await build(entryFolder, entry);
}

async function build(entryFolder: string, entry: string | undefined): Promise<string> {
  const startedAt = Date.now();
  const temporaryFolder = path.join(`${entryFolder}-draft`, `${process.pid}-${startedAt}`);
  await mkdir(temporaryFolder, { recursive: true });
  const metafile = path.join(temporaryFolder, "metafile.json");
  const entryArguments = entry === undefined ? [] : [entry];
  const wranglerArguments = [
    "deploy",
    ...entryArguments,
    "--config",
    CONFIG,
    "--dry-run",
    "--outdir",
    temporaryFolder,
  ];
  // Libraries depend on NODE_ENV, which a test runner sets to another value.
  await wranglerQuietly([...wranglerArguments, `--metafile=${path.resolve(metafile)}`], {
    NODE_ENV: "production",
  });
  const { inputs } = MetafileSchema.parse(JSON.parse(await readFile(metafile, "utf8")));
  const texts = await readdir(TEXT_FOLDER, { recursive: true });
  const files = [
    ...TOOLS,
    ...texts.filter((name) => name.endsWith(".yaml")).map((name) => path.join(TEXT_FOLDER, name)),
    ...Object.keys(inputs),
  ];
  const hash = await hashOf(files);
  for (const name of await readdir(temporaryFolder)) {
    // These files have 20 MB, and the runtime does not read them.
    if (/\.(map|json)$/.test(name)) await rm(path.join(temporaryFolder, name));
  }
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
