import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { sha256 } from "../sha256";
import { writeMeteredShell } from "./shell/write";
import { wranglerQuietly } from "./wrangler";
import { type BundleRecord, BundledSchema, MetafileSchema } from "../schema";

export const CONFIG = "wrangler.toml";
const CACHE = "node_modules/.cache/massgen-edge/bundles";
/** A bundle also depends on its tools, whose versions are in the lockfile. */
const TOOLS = [CONFIG, "package-lock.json", "tsconfig.json"];
/** Wrangler includes texts from here by its own rule; esbuild does not list them. */
const TEXTS = "configs";
const RECORD = "record.json";
/** Unused bundles are removed after this time. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

/**
 * The folder of a bundle of the Worker as it would be deployed. Bundling takes seconds, and a test
 * run starts dozens of services, so a bundle is reused while all its input files are unchanged. The
 * folder is read-only. `entry` replaces wrangler.toml's `main`.
 */
export async function bundleOf(entry?: string): Promise<string> {
  writeMeteredShell();
  const named = path.join(CACHE, sha256(`${entry ?? ""}\n`).slice(0, 16));
  const before = await newestOf(named);
  if (before !== null && (await isCurrent(before))) {
    await utimes(before, new Date(), new Date());
    return before;
  }
  return await build(named, entry);
}

async function build(named: string, entry: string | undefined): Promise<string> {
  const startedAt = Date.now();
  const draft = path.join(`${named}-draft`, `${process.pid}-${startedAt}`);
  await mkdir(draft, { recursive: true });
  const metafile = path.join(draft, "metafile.json");
  const what = entry === undefined ? [] : [entry];
  const bundling = ["deploy", ...what, "--config", CONFIG, "--dry-run", "--outdir", draft];
  // Libraries depend on NODE_ENV, which a test runner sets to another value.
  await wranglerQuietly([...bundling, `--metafile=${path.resolve(metafile)}`], {
    NODE_ENV: "production",
  });
  const { inputs } = MetafileSchema.parse(JSON.parse(await readFile(metafile, "utf8")));
  const texts = await readdir(TEXTS, { recursive: true });
  const files = [
    ...TOOLS,
    ...texts.filter((name) => name.endsWith(".yaml")).map((name) => path.join(TEXTS, name)),
    ...Object.keys(inputs),
  ];
  const hash = await hashOf(files);
  for (const name of await readdir(draft)) {
    // 20 MB that the runtime does not read
    if (/\.(map|json)$/.test(name)) await rm(path.join(draft, name));
  }
  // If an input file changed meanwhile, its state in the bundle is unknown: such a bundle is used
  // once.
  const record: BundleRecord = {
    files,
    hash: (await newestChange(files)) < startedAt ? hash : null,
  };
  await writeFile(path.join(draft, RECORD), JSON.stringify(record));
  await mkdir(named, { recursive: true });
  const made = path.join(named, path.basename(draft));
  await rename(draft, made);
  await removeOld();
  return made;
}

/** The most recently used folder. */
async function newestOf(named: string): Promise<string | null> {
  const all = await foldersIn(named);
  return all.sort((a, b) => b.usedAt - a.usedAt)[0]?.folder ?? null;
}

async function isCurrent(folder: string): Promise<boolean> {
  const text = await readFile(path.join(folder, RECORD), "utf8").catch(() => null);
  if (text === null) return false;
  const { files, hash } = BundledSchema.parse(JSON.parse(text));
  return hash !== null && (await hashOf(files)) === hash;
}

/** Removes old bundles of every entry, and remains of failed builds. */
async function removeOld(): Promise<void> {
  for (const { folder: named } of await foldersIn(CACHE)) {
    for (const { folder, usedAt } of await foldersIn(named)) {
      if (Date.now() - usedAt > KEPT_MS) await rm(folder, { recursive: true, force: true });
    }
  }
}

async function foldersIn(named: string): Promise<{ folder: string; usedAt: number }[]> {
  const names = await readdir(named).catch(() => []);
  const folders = names.map(async (name) => {
    const folder = path.join(named, name);
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

/** Latest modification time of the files, Unix ms; infinite if one is missing. */
async function newestChange(files: readonly string[]): Promise<number> {
  const times = files.map((file) =>
    stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    ),
  );
  return Math.max(...(await Promise.all(times)));
}
