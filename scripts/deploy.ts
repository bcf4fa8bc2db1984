import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { wrangler, wranglerQuietly } from "./wrangler";

/** What Cloudflare accepts from a free account; staying under it also keeps cold starts short. */
const MAX_GZIP_BYTES = 3 * 1024 * 1024;

/** `npm run deploy [-- --dry-run]`: bundles, measures, and unless told otherwise uploads. The dry run needs no network. */
const args = process.argv.slice(2);
try {
  const size = await bundleSize();
  console.log(`Bundle: ${kib(size.raw)} raw, ${kib(size.gzip)} gzip (limit ${kib(MAX_GZIP_BYTES)} gzip)`);
  if (size.gzip > MAX_GZIP_BYTES)
    throw new Error("The bundle is too large. Load what is rarely needed with `await import()`, or drop it.");
  if (!args.includes("--dry-run")) process.exitCode = await wrangler(["deploy", ...args]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function bundleSize(): Promise<{ raw: number; gzip: number }> {
  const dir = await mkdtemp(path.join(tmpdir(), "massgen-edge-bundle-"));
  try {
    await wranglerQuietly(["deploy", "--dry-run", "--outdir", dir]);
    const names = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    const uploaded = names.filter((entry) => !/\.map$|^README\.md$/.test(entry.name));
    const contents = Buffer.concat(await Promise.all(uploaded.map((entry) => readFile(path.join(entry.parentPath, entry.name)))));
    return { raw: contents.length, gzip: gzipSync(contents).length };
  } finally {
    await rm(dir, { recursive: true });
  }
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(0)} KiB`;
}
