import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { wranglerQuietly } from "./wrangler";

/** Size of the upload in bytes. */
export type BundleSize = { raw: number; gzip: number };

/**
 * Cloudflare's limit for free accounts (documentation, autumn 2026). A smaller bundle also keeps
 * cold starts short.
 */
export const MAX_GZIP_BYTES = 3 * 1024 * 1024;

/**
 * Bundles the Worker as a deployment does, but without network, and measures the bundle. `config`
 * selects another Worker.
 */
export async function bundleSize(config = "wrangler.toml"): Promise<BundleSize> {
  const dir = await mkdtemp(path.join(tmpdir(), "massgen-edge-bundle-"));
  try {
    await wranglerQuietly(["deploy", "--config", config, "--dry-run", "--outdir", dir]);
    return await sizeIn(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
}

/** The size of the modules in a folder. Source maps are not loaded by the runtime. */
export async function sizeIn(folder: string): Promise<BundleSize> {
  const names = await readdir(folder, { recursive: true });
  const modules = names.filter((name) => /\.m?js$/.test(name)).sort();
  const contents = Buffer.concat(
    await Promise.all(modules.map((name) => readFile(path.join(folder, name)))),
  );
  return { raw: contents.length, gzip: gzipSync(contents).length };
}

/** Describes the size. Throws if the size exceeds the limit. */
export function checkedSize({ raw, gzip }: BundleSize): string {
  const text = `Bundle: ${kib(raw)} raw, ${kib(gzip)} gzip (limit ${kib(MAX_GZIP_BYTES)} gzip)`;
  if (gzip > MAX_GZIP_BYTES)
    throw new Error(
      `${text}\nThe bundle is too large. Load rarely used modules with \`await import()\`, or remove them.`,
    );
  return text;
}

function kib(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`;
}
