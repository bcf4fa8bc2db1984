import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { unstable_readConfig, unstable_splitSqlQuery } from "wrangler";
import { wranglerQuietly } from "../wrangler";
import { catchRuntime, workerdPath } from "./catch-runtime";
import { WranglerConfigSchema } from "./schema";

export type PlanOptions = {
  /** A folder of its own, for the bundle, the configuration and the storage. */
  dir: string;
  port: number;
  /** What `.dev.vars` would say. */
  variables: Readonly<Record<string, string>>;
  /** SQL for its database, after the migrations: keys that are there from the beginning. */
  statements?: readonly string[];
  /** What is bundled instead of wrangler.toml's `main`: a build that can be made to fail. */
  entry?: string;
  /** Names of worker loaders, which an operator binds who wants models' JavaScript to be run. */
  loaders?: readonly string[];
};

/** How to run workerd: `file` with `args`, and `config` on its standard input. Good until `dispose`, any number of times. */
export type RuntimePlan = { file: string; args: string[]; config: Buffer; dispose(): Promise<void> };

/**
 * Plans a workerd that serves the bundle as it would be deployed, with storage on disk. The plan is miniflare's own, caught on
 * its way to a workerd that is never started: D1, R2 and the objects' SQLite are set up as in `wrangler dev`, but what is
 * started and killed later is the runtime alone. A Node process around it would take a second to start, and wrangler's proxy
 * would hide the kill from clients.
 */
export async function planRuntime({
  dir,
  port,
  variables,
  statements = [],
  entry,
  loaders = [],
}: PlanOptions): Promise<RuntimePlan> {
  const bundle = path.join(dir, "bundle");
  await wranglerQuietly([
    "deploy",
    ...(entry === undefined ? [] : [entry]),
    "--config",
    "wrangler.toml",
    "--dry-run",
    "--outdir",
    bundle,
  ]);
  const options = { bundle, state: path.join(dir, "state"), port, variables, loaders };
  await migrate(options, statements);
  const caught = await catchRuntime({ dir: path.join(dir, "caught"), port, options: await miniflareOptions(options) });
  return {
    file: workerdPath(),
    args: caught.args.filter((arg) => !arg.startsWith("--control-fd")),
    config: caught.config,
    dispose: () => caught.miniflare.dispose(), // it also owns a folder and a socket that the configuration names
  };
}

type Layout = {
  bundle: string;
  state: string;
  port: number;
  variables: Readonly<Record<string, string>>;
  loaders: readonly string[];
};

/** The bindings of wrangler.toml; a binding's name is its local id. */
async function miniflareOptions({ bundle, state, port, variables, loaders }: Layout) {
  const config = WranglerConfigSchema.parse(unstable_readConfig({ config: "wrangler.toml" }));
  const objects = config.durable_objects.bindings.map(
    ({ name, class_name }) => [name, { className: class_name, useSQLite: true }] as const,
  );
  const limits = config.ratelimits.map(({ name, ...limit }) => [name, limit] as const);
  return {
    host: "127.0.0.1",
    port,
    resourcePersistencePath: state,
    log: new Log(LogLevel.WARN),
    logRequests: false,
    cf: false,
    workers: [
      {
        name: config.name,
        modules: await modulesIn(bundle),
        modulesRoot: bundle,
        compatibilityFlags: config.compatibility_flags,
        compatibilityDate: config.compatibility_date,
        durableObjects: Object.fromEntries(objects),
        ratelimits: Object.fromEntries(limits),
        versionMetadata: config.version_metadata.binding,
        r2Buckets: config.r2_buckets.map(({ binding }) => binding),
        d1Databases: config.d1_databases.map(({ binding }) => binding),
        workerLoaders: Object.fromEntries(loaders.map((name) => [name, {}])),
        bindings: { ...config.vars, ...variables },
      },
    ],
  };
}

/** Gives the database its tables, as a deployment has them. */
async function migrate(layout: Layout, more: readonly string[]): Promise<void> {
  const miniflare = new Miniflare(convertV4MiniflareOptions(await miniflareOptions({ ...layout, port: 0 })));
  try {
    const { d1_databases: databases } = WranglerConfigSchema.parse(unstable_readConfig({ config: "wrangler.toml" }));
    for (const { binding, migrations_dir: folder } of databases) {
      const db = await miniflare.getD1Database(binding);
      for (const name of (await readdir(folder)).sort()) {
        const statements = unstable_splitSqlQuery(await readFile(path.join(folder, name), "utf8"));
        await db.batch(statements.map((statement) => db.prepare(statement)));
      }
      for (const statement of more) await db.prepare(statement).run();
    }
  } finally {
    await miniflare.dispose();
  }
}

/** The modules of a bundle on disk; the entry is the first. */
export async function modulesIn(bundle: string) {
  const names = (await readdir(bundle)).filter((name) => /\.(js|yaml)$/.test(name));
  names.sort((a, b) => Number(b.endsWith(".js")) - Number(a.endsWith(".js")));
  const modules = names.map(async (name) => ({
    type: name.endsWith(".js") ? ("ESModule" as const) : ("Text" as const),
    path: path.join(bundle, name),
    contents: await readFile(path.join(bundle, name), "utf8"),
  }));
  return Promise.all(modules);
}
