import { rm } from "node:fs/promises";
import path from "node:path";
import { build, type Metafile } from "esbuild";
import { METERED, writeMeteredShell } from "./shell/write";

/** The Worker's modules as `wrangler.toml` deploys them: `main` is the start module in here. */
export const WORKER_FOLDER = "dist/worker";
const START_NAME = "worker";
export const START_MODULE = `${START_NAME}.mjs`;

type WorkerBuild = {
  /** The module that exports the handlers and the objects' classes. */
  entry: string;
  /** The folder of the modules. Its old contents are removed. */
  folder: string;
  /** Whether source maps are written beside the modules. */
  sourceMaps: boolean;
};

/**
 * Builds the Worker as ES modules: the start module, and a module for each part that the code loads
 * with `import()`. The runtime compiles a module when it is first imported. Wrangler's own bundler
 * makes one module, so the runtime would read all code at each start. The current directory must be
 * the repository root.
 */
export async function buildWorker({ entry, folder, sourceMaps }: WorkerBuild): Promise<Metafile> {
  writeMeteredShell();
  await rm(folder, { recursive: true, force: true });
  const { metafile } = await build({
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
    minify: true,
    // Names of classes are part of messages and of an SDK's `user-agent`.
    keepNames: true,
    legalComments: "none",
    sourcemap: sourceMaps,
    sourcesContent: true,
    metafile: true,
    logLevel: "error",
  });
  return metafile;
}
