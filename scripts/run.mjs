// Runs a TypeScript entry point: `node scripts/run.mjs scripts/demo.ts --once`.
// esbuild bundles it (packages stay outside) and this very process executes the bundle, so arguments, signals, exit code and
// terminal are the entry's own. Plain JavaScript, so that it also starts on a Node that is too old for everything else and can
// say so.
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
}).catch(() => process.exit(1)); // esbuild has already said what is wrong

// Renaming is atomic: a second process that starts now never reads half a file.
const draft = `${target}.${process.pid}`;
await mkdir(path.dirname(target), { recursive: true });
await writeFile(draft, result.outputFiles[0].contents);
await rename(draft, target);

// `npm run` ends at SIGTERM with the shell between us, which passes nothing on: whoever lost that shell was meant as well.
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
