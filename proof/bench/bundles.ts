import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { unstable_readConfig } from "wrangler";
import { wranglerQuietly } from "../../local/bundle/wrangler";

/** A bundled Worker, as a deployment would upload it. `dir`: the root of the module paths. */
export type Bundle = {
  dir: string;
  modules: { type: "ESModule" | "Text"; path: string; contents: string }[];
};
export type Bundles = { service: Bundle; bare: Bundle; compatibility: Compatibility };
type Compatibility = { compatibilityDate: string; compatibilityFlags: string[] };

const BARE = "proof/bench/bare-worker.ts";

/**
 * The service and the Worker of the lower bounds, bundled by the same tool for the same runtime.
 * `entry`: a module that replaces the service's entry module.
 */
export async function bundleBoth(dir: string, entry?: string): Promise<Bundles> {
  const { compatibility_date, compatibility_flags } = unstable_readConfig({
    config: "wrangler.toml",
  });
  if (!compatibility_date) throw new Error("wrangler.toml names no compatibility_date.");
  const bundleEntry = (name: string, main: string) =>
    once(main, async () =>
      bundle(path.join(dir, name), ["--config", await configFor(dir, name, main)]),
    );
  return {
    service: await (entry === undefined
      ? once("the service", () => bundle(path.join(dir, "service"), []))
      : bundleEntry("service", entry)),
    bare: await bundleEntry("bare", BARE),
    compatibility: {
      compatibilityDate: compatibility_date,
      compatibilityFlags: compatibility_flags,
    },
  };
}

/** Bundles by name. Runtimes share these contents, so the folder of a bundle may be removed. */
const bundles = new Map<string, Promise<Bundle>>();

/** The bundle of that name; calls `make` only the first time. */
function once(name: string, make: () => Promise<Bundle>): Promise<Bundle> {
  const made = bundles.get(name) ?? make();
  bundles.set(name, made);
  return made;
}

/**
 * Writes a configuration that bundles another module with the settings of wrangler.toml; returns
 * its path.
 */
export async function configFor(dir: string, name: string, main = BARE): Promise<string> {
  const { compatibility_date, compatibility_flags, rules, minify } = unstable_readConfig({
    config: "wrangler.toml",
  });
  const file = path.join(dir, `${name}-wrangler.json`);
  const config = {
    name,
    main: path.resolve(main),
    compatibility_date,
    compatibility_flags,
    rules,
    minify,
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

async function bundle(dir: string, options: string[]): Promise<Bundle> {
  await wranglerQuietly(["deploy", "--dry-run", "--outdir", dir, ...options]);
  const names = (await readdir(dir)).filter((name) => /\.(js|yaml)$/.test(name));
  // The runtime takes the first module as the entry; the only .js file is the entry.
  names.sort((a, b) => Number(b.endsWith(".js")) - Number(a.endsWith(".js")));
  const modules = names.map(async (name) => ({
    type: name.endsWith(".js") ? ("ESModule" as const) : ("Text" as const),
    path: path.join(dir, name),
    contents: await readFile(path.join(dir, name), "utf8"),
  }));
  return { dir, modules: await Promise.all(modules) };
}
