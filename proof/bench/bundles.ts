import { unstable_readConfig } from "wrangler";
import { bundleOf } from "../../local/bundle/worker-bundle";
import { modulesIn } from "../../local/service-plan";

/** A bundled Worker, as a deployment would upload it. `dir`: the root of the module paths. */
export type Bundle = { dir: string; modules: Awaited<ReturnType<typeof modulesIn>> };
export type Bundles = { service: Bundle; bare: Bundle; compatibility: Compatibility };
type Compatibility = { compatibilityDate: string; compatibilityFlags: string[] };

/** The Worker of the lower bounds. */
export const BARE = "proof/bench/bare-worker.ts";

/**
 * The service and the Worker of the lower bounds, bundled by the same tool for the same runtime.
 * `entry`: a module that replaces the service's entry module.
 */
export async function bundleBoth(entry?: string): Promise<Bundles> {
  const { compatibility_date, compatibility_flags } = unstable_readConfig({
    config: "wrangler.toml",
  });
  if (!compatibility_date) throw new Error("wrangler.toml names no compatibility_date.");
  return {
    service: await bundle(entry),
    bare: await bundle(BARE),
    compatibility: {
      compatibilityDate: compatibility_date,
      compatibilityFlags: compatibility_flags,
    },
  };
}

async function bundle(entry?: string): Promise<Bundle> {
  const dir = await bundleOf(entry);
  return { dir, modules: await modulesIn(dir) };
}
