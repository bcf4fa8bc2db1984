import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { writeMeteredShell } from "./shell/write";
import { wranglerQuietly } from "./wrangler";
import { type Bundled, BundledSchema, MetafileSchema } from "../schema";

export const CONFIG = "wrangler.toml";
const CACHE = "node_modules/.cache/massgen-edge/bundles";
/** A bundle also depends on the tools that make it, whose versions stand in the lockfile. */
const TOOLS = [CONFIG, "package-lock.json", "tsconfig.json"];
/** Wrangler takes texts from here by a rule of its own; esbuild does not list them. */
const TEXTS = "configs";
const RECORD = "record.json";
/** A bundle that nobody used for so long is removed. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

/**
 * The folder of a bundle of the Worker as it would be deployed. Bundling takes seconds, and a test run starts dozens of services, so a
 * bundle is used again while every file that went into it has the same bytes. Read from the folder, never write into it.
 * `entry`: what is bundled instead of wrangler.toml's `main`.
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
  // Libraries are compiled for the value of NODE_ENV, which a test runner sets to something else.
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
    if (/\.(map|json)$/.test(name)) await rm(path.join(draft, name)); // 20 MB that no runtime reads
  }
  // A file that changed meanwhile may have gone into the bundle in another state: such a bundle serves once.
  const record: Bundled = { files, hash: (await newestChange(files)) < startedAt ? hash : null };
  await writeFile(path.join(draft, RECORD), JSON.stringify(record));
  await mkdir(named, { recursive: true });
  const made = path.join(named, path.basename(draft));
  await rename(draft, made);
  await removeOld();
  return made;
}

/** The folder that was used last. */
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

/** Bundles of every entry, and what builds that failed have left. */
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

/** Of names and bytes; null if one of the files cannot be read. */
async function hashOf(files: readonly string[]): Promise<string | null> {
  const hashes = files.map(async (file) => `${sha256(await readFile(file))} ${file}`);
  return Promise.all(hashes).then(
    (all) => sha256(all.join("\n")),
    () => null,
  );
}

/** When one of the files was changed last, in ms since 1970; infinite if one of them is not there. */
async function newestChange(files: readonly string[]): Promise<number> {
  const times = files.map((file) =>
    stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    ),
  );
  return Math.max(...(await Promise.all(times)));
}

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
