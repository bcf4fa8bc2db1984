// Runs a TypeScript entry point: `node scripts/run.mjs scripts/demo.ts --once`.
// esbuild bundles the entry without packages, and this process executes the bundle. Arguments,
// signals, exit code and terminal are therefore those of the entry. Plain JavaScript: a Node that
// is too old can also start it, and the check prints the remedy.
import "./check-node.mjs";
import { mkdir, rename, writeFile } from "node:fs/promises";
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
const target = path.join(
  root,
  "node_modules/.cache/massgen-edge",
  `${path.relative(root, source)}.mjs`,
);

const result = await build({
  entryPoints: [source],
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  outfile: target,
  write: false,
  logLevel: "error",
}).catch(() => process.exit(1)); // esbuild has printed the error

// Renaming is atomic: another process never reads a partial file.
const draft = `${target}.${process.pid}`;
await mkdir(path.dirname(target), { recursive: true });
await writeFile(draft, result.outputFiles[0].contents);
await rename(draft, target);

// On SIGTERM, `npm run` and its shell end, and the shell does not forward the signal. If the parent
// process is gone, this process sends itself the signal.
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
