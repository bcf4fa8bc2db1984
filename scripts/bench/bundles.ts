import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { unstable_readConfig } from "wrangler";
import { wranglerQuietly } from "../wrangler";

/** A Worker as it would be uploaded. */
export type Bundle = { dir: string; modules: { type: "ESModule" | "Text"; path: string; contents: string }[] };
export type Bundles = { service: Bundle; bare: Bundle; compatibility: Compatibility };
export type Compatibility = { compatibilityDate: string; compatibilityFlags: string[] };

/** The service and the lower bound, bundled by the same tool for the same runtime. */
export async function bundleBoth(dir: string): Promise<Bundles> {
  const { compatibility_date, compatibility_flags } = unstable_readConfig({ config: "wrangler.toml" });
  if (!compatibility_date) throw new Error("wrangler.toml names no compatibility_date.");
  await mkdir(path.join(dir, "bare"));
  const bareConfig = path.join(dir, "bare-wrangler.json");
  await writeFile(
    bareConfig,
    JSON.stringify({
      name: "bare",
      main: path.resolve("scripts/bench/bare-worker.ts"),
      compatibility_date,
      compatibility_flags,
      durable_objects: { bindings: [{ name: "ROWS", class_name: "RowObject" }] },
      migrations: [{ tag: "v1", new_sqlite_classes: ["RowObject"] }],
    }),
  );
  return {
    service: await bundle(path.join(dir, "service"), []),
    bare: await bundle(path.join(dir, "bare"), ["--config", bareConfig]),
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
