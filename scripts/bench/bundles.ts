import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { unstable_readConfig } from "wrangler";
import { wranglerQuietly } from "../wrangler";

/** A Worker as it would be uploaded. */
export type Bundle = { dir: string; modules: { type: "ESModule" | "Text"; path: string; contents: string }[] };
export type Bundles = { service: Bundle; bare: Bundle; compatibility: Compatibility };
export type Compatibility = { compatibilityDate: string; compatibilityFlags: string[] };

/** The service and the lower bound, bundled by the same tool for the same runtime. `entry`: what stands in for the service. */
export async function bundleBoth(dir: string, entry?: string): Promise<Bundles> {
  const { compatibility_date, compatibility_flags, rules } = unstable_readConfig({ config: "wrangler.toml" });
  if (!compatibility_date) throw new Error("wrangler.toml names no compatibility_date.");
  const compatibility = { compatibility_date, compatibility_flags, rules };
  const configured = async (name: string, main: string) => {
    const file = path.join(dir, `${name}-wrangler.json`);
    await writeFile(file, JSON.stringify({ name, main: path.resolve(main), ...compatibility }));
    return bundle(path.join(dir, name), ["--config", file]);
  };
  return {
    service: entry === undefined ? await bundle(path.join(dir, "service"), []) : await configured("service", entry),
    bare: await configured("bare", "scripts/bench/bare-worker.ts"),
    compatibility: { compatibilityDate: compatibility_date, compatibilityFlags: compatibility_flags },
  };
}

async function bundle(dir: string, options: string[]): Promise<Bundle> {
  await wranglerQuietly(["deploy", "--dry-run", "--outdir", dir, ...options]);
  const names = (await readdir(dir)).filter((name) => /\.(js|yaml)$/.test(name));
  names.sort((a, b) => Number(b.endsWith(".js")) - Number(a.endsWith(".js"))); // the entry comes first
  const modules = names.map(async (name) => ({
    type: name.endsWith(".js") ? ("ESModule" as const) : ("Text" as const),
    path: path.join(dir, name),
    contents: await readFile(path.join(dir, name), "utf8"),
  }));
  return { dir, modules: await Promise.all(modules) };
}
