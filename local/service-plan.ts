import { createHash } from "node:crypto";
import { access, cp, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { unstable_readConfig, unstable_splitSqlQuery } from "wrangler";
import { bundleOf, CONFIG } from "./bundle/worker-bundle";
import { START_MODULE } from "./bundle/worker-build";
import { catchRuntime, workerdPath } from "./catch-runtime";
import { WranglerConfigSchema } from "./schema";

const DATABASES_FOLDER = "node_modules/.cache/massgen-edge/databases";

export type PlanOptions = {
  /** A separate folder for the bundle, the configuration and the storage. */
  dir: string;
  port: number;
  /** Replaces `.dev.vars`. */
  variables: Readonly<Record<string, string>>;
  /** SQL statements that run in the database after the migrations, for example for initial keys. */
  statements?: readonly string[];
  /** Replaces wrangler.toml's `main`, for example by a build with injected faults. */
  entry?: string;
  /** Whether all names stay as in the source, for profiles. Omitted: they are shortened. */
  isReadable?: boolean;
  /** Names of the bindings of worker loaders. A loader runs JavaScript that models write. */
  loaders?: readonly string[];
};

/**
 * How to run workerd: `file` with `args`, and `config` on its standard input. The plan may be used
 * several times until `dispose` is called.
 */
export type RuntimePlan = {
  file: string;
  args: string[];
  config: Buffer;
  dispose(): Promise<void>;
};

/**
 * Plans a workerd that serves the deployable bundle with storage on disk. The plan is captured from
 * miniflare before miniflare starts workerd. So D1, R2 and the objects' SQLite are set up as in
 * `wrangler dev`, but only workerd is started and killed later. A Node process around workerd would
 * take a second to start, and wrangler's proxy would hide the kill from clients.
 */
export async function planRuntime({
  dir,
  port,
  variables,
  statements = [],
  entry,
  isReadable,
  loaders = [],
}: PlanOptions): Promise<RuntimePlan> {
  const bundle = await bundleOf(entry, isReadable);
  const options = { bundle, state: path.join(dir, "state"), port, variables, loaders };
  await migrate(options, statements);
  const caught = await catchRuntime({
    dir: path.join(dir, "caught"),
    port,
    options: await miniflareOptions(options),
  });
  return {
    file: workerdPath(),
    args: caught.args.filter((arg) => !arg.startsWith("--control-fd")),
    config: caught.config,
    // miniflare also owns a folder and a socket that the configuration refers to
    dispose: () => caught.miniflare.dispose(),
  };
}

type Layout = {
  bundle: string;
  state: string;
  port: number;
  variables: Readonly<Record<string, string>>;
  loaders: readonly string[];
};

/**
 * The options of miniflare with the bindings of wrangler.toml. A binding's name is its local id.
 */
async function miniflareOptions({ bundle, state, port, variables, loaders }: Layout) {
  const config = WranglerConfigSchema.parse(unstable_readConfig({ config: CONFIG }));
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

/** Creates the database's tables as in a deployment, then runs `statements`. */
async function migrate(layout: Layout, statements: readonly string[]): Promise<void> {
  await cp(await migratedState(layout), layout.state, { recursive: true });
  if (statements.length === 0) return;
  await withDatabases(layout, async ([database]) => {
    for (const statement of statements) await database?.db.prepare(statement).run();
  });
}

/**
 * Returns a storage folder whose databases have empty tables. Creates the folder once for each
 * state of the migrations; callers copy it.
 */
async function migratedState(layout: Layout): Promise<string> {
  const folderOfState = path.join(DATABASES_FOLDER, await migrationsHash());
  if (await exists(folderOfState)) return folderOfState;
  const temporaryFolder = `${folderOfState}-${process.pid}-${Date.now()}`;
  await withDatabases({ ...layout, state: temporaryFolder }, async (databases) => {
    for (const { db, folder } of databases) {
      for (const name of (await readdir(folder)).sort()) {
        const statements = unstable_splitSqlQuery(await readFile(path.join(folder, name), "utf8"));
        await db.batch(statements.map((statement) => db.prepare(statement)));
      }
    }
  });
  // If another process has created the folder meanwhile, the folder of that process is used.
  await rename(temporaryFolder, folderOfState).catch(() =>
    rm(temporaryFolder, { recursive: true, force: true }),
  );
  return folderOfState;
}

type Database = { db: Awaited<ReturnType<Miniflare["getD1Database"]>>; folder: string };

async function withDatabases(
  layout: Layout,
  work: (databases: Database[]) => Promise<void>,
): Promise<void> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions(await miniflareOptions({ ...layout, port: 0 })),
  );
  try {
    const { d1_databases: databaseConfigs } = WranglerConfigSchema.parse(
      unstable_readConfig({ config: CONFIG }),
    );
    const databases = databaseConfigs.map(async ({ binding, migrations_dir: folder }) => ({
      db: await miniflare.getD1Database(binding),
      folder,
    }));
    await work(await Promise.all(databases));
  } finally {
    await miniflare.dispose();
  }
}

/**
 * Hash of the migrations and of the tools that store the database, whose versions are in the
 * lockfile.
 */
async function migrationsHash(): Promise<string> {
  const hash = createHash("sha256");
  for (const { migrations_dir: folder } of WranglerConfigSchema.parse(
    unstable_readConfig({ config: CONFIG }),
  ).d1_databases) {
    for (const name of (await readdir(folder)).sort())
      hash.update(name).update(await readFile(path.join(folder, name)));
  }
  for (const name of [CONFIG, "package-lock.json"]) hash.update(await readFile(name));
  return hash.digest("hex").slice(0, 32);
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** The modules of a bundle on disk; the start module is the first. */
export async function modulesIn(bundle: string) {
  const names = (await readdir(bundle, { recursive: true })).filter((name) => /\.m?js$/.test(name));
  names.sort((a, b) => Number(b === START_MODULE) - Number(a === START_MODULE));
  const modules = names.map(async (name) => ({
    type: "ESModule" as const,
    path: path.join(bundle, name),
    contents: await readFile(path.join(bundle, name), "utf8"),
  }));
  return Promise.all(modules);
}
