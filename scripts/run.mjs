// Runs a TypeScript entry point: `node scripts/run.mjs scripts/demo.ts --once`.
// esbuild bundles the entry without packages, and this process executes the bundle. Arguments,
// signals, exit code and terminal are therefore those of the entry. A module that the entry imports
// with `import()` is a separate file, which is loaded only by that import. This file is plain
// JavaScript, so that a Node that is too old can start it and print the remedy.
import "./check-node.mjs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const [entry, ...args] = process.argv.slice(2);
if (!entry) {
  console.error("usage: node scripts/run.mjs <entry.ts> [arguments]");
  process.exit(2);
}
const root = path.resolve(import.meta.dirname ?? ".", "..");
const source = path.resolve(root, entry);
const folder = path.join(
  root,
  "node_modules/.cache/massgen-edge",
  `${path.relative(root, source)}.bundle`,
);
const target = path.join(folder, "entry.mjs");
// Age at which old files are removed: a process has then loaded the files of its bundle, and a
// campaign has started its child processes.
const MAX_AGE_MS = 24 * 60 * 60 * 1_000;

const { outputFiles } = await build({
  entryPoints: [{ in: source, out: "entry" }],
  bundle: true,
  splitting: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  write: false,
  logLevel: "error",
}).catch(() => process.exit(1)); // esbuild has printed the error

// Renaming is atomic: another process never reads a partial file.
const write = async ({ path: file, contents }) => {
  const temporaryFile = `${file}.${process.pid}`;
  await writeFile(temporaryFile, contents);
  await rename(temporaryFile, file);
};
// The names of all files except the entry contain a hash of their contents. So an entry finds its
// own files, even if another process writes a newer bundle. The entry is written last, when its
// files exist.
await mkdir(folder, { recursive: true });
await Promise.all(outputFiles.filter((file) => file.path !== target).map(write));
await Promise.all(outputFiles.filter((file) => file.path === target).map(write));
await removeOld(new Set(outputFiles.map((file) => path.basename(file.path))));

// Removes old files of earlier bundles.
async function removeOld(current) {
  for (const name of await readdir(folder)) {
    if (current.has(name)) continue;
    const file = path.join(folder, name);
    // Another process may have removed the file.
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > MAX_AGE_MS) await rm(file, { force: true });
  }
}

// On SIGTERM, `npm run` and its shell end, and the shell does not forward the signal. So this
// process sends the signal to itself when its parent process has ended.
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 250);
  watch.unref();
}

process.setSourceMapsEnabled(true);
process.argv = [process.argv[0], source, ...args];
await import(pathToFileURL(target).href);
