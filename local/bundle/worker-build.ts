import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { build, type Metafile, type OutputFile } from "esbuild";
import { METERED, writeMeteredShell } from "./shell/write";

/** The Worker's modules as `wrangler.toml` deploys them: `main` is the start module in here. */
export const WORKER_FOLDER = "dist/worker";
const START_NAME = "worker";
export const START_MODULE = `${START_NAME}.mjs`;

type WorkerBuild = {
  /** The module that exports the handlers and the objects' classes. */
  entry: string;
  /** The folder of the modules. All other files in it are removed. */
  folder: string;
  /** Whether source maps are written beside the modules. */
  sourceMaps: boolean;
  /** Whether all names stay as in the source, for profiles. Omitted: they are shortened. */
  isReadable?: boolean;
};

/**
 * Builds the Worker as ES modules: the start module, and a module for each part that the code loads
 * with `import()`. The runtime compiles a module when it is first imported. Wrangler's own bundler
 * makes one module, so the runtime would read all code at each start. The current directory must be
 * the repository root.
 */
export async function buildWorker({
  entry,
  folder,
  sourceMaps,
  isReadable = false,
}: WorkerBuild): Promise<Metafile> {
  writeMeteredShell();
  const { outputFiles, metafile } = await build({
    entryPoints: [{ in: entry, out: START_NAME }],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    chunkNames: "parts/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    target: "es2024",
    supported: { using: true },
    external: ["cloudflare:*", "node:*"],
    alias: { "just-bash/browser": path.resolve(METERED) },
    loader: { ".yaml": "text" },
    // Libraries depend on NODE_ENV, which a test runner sets to another value.
    define: { "process.env.NODE_ENV": '"production"' },
    minify: !isReadable,
    // Names of classes are part of messages and of an SDK's `user-agent`.
    keepNames: !isReadable,
    legalComments: "none",
    sourcemap: sourceMaps,
    sourcesContent: true,
    metafile: true,
    write: false,
    logLevel: "error",
  });
  await Promise.all(outputFiles.map(writeWhole));
  await removeOthers(folder, new Set(outputFiles.map((file) => file.path)));
  return metafile;
}

/** Names of files that are not complete yet. */
const INCOMPLETE = /\.[0-9a-f-]{36}$/;

/** Renaming is atomic, so a wrangler that another process has started reads no incomplete file. */
async function writeWhole({ path: file, contents }: OutputFile): Promise<void> {
  const temporaryFile = `${file}.${randomUUID()}`;
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(temporaryFile, contents);
  await rename(temporaryFile, file);
}

/** Removes modules of earlier builds. Otherwise wrangler would upload them. */
async function removeOthers(folder: string, files: ReadonlySet<string>): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const file = path.resolve(entry.parentPath, entry.name);
    if (entry.isFile() && !files.has(file) && !INCOMPLETE.test(entry.name))
      await rm(file, { force: true });
  }
}
