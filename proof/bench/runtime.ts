import { rmSync } from "node:fs";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { convertV4MiniflareOptions, Miniflare, NoOpLog } from "miniflare";
import { unstable_readConfig, unstable_splitSqlQuery } from "wrangler";
import { LOCAL_VARIABLES } from "../../simulated/service/local-variables";
import { WranglerConfigSchema } from "../../local/schema";
import { type Bundle, type Bundles, bundleBoth } from "./bundles";
import { childrenNamed, cpuMs } from "./process-cpu";

/**
 * One workerd with two Workers: the service as it would be deployed, and the lower bound. Both are asked over sockets of their
 * own, past the development proxy, and share a process, so that what the machine does to one it does to the other.
 */
export type Runtime = {
  service: string;
  bare: string;
  /** CPU time of the whole process so far, in ms. */
  cpuMs(): number;
  /** Where the sessions' databases lie. */
  sessionsDir: string;
  stop(): Promise<void>;
};

const DIRECT = { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] };

/**
 * `storage`: an existing directory; what the runtime writes lies in a new one below it, until it is stopped. `entry`: a module
 * that stands in for the service's own; `variables`: what it is told besides.
 */
export async function startRuntime(
  storage: string,
  entry?: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Runtime> {
  const dir = await mkdtemp(path.join(storage, "massgen-bench-"));
  const forget = () => rmSync(dir, { recursive: true, force: true });
  process.once("exit", forget); // also when interrupted: storage in memory would stay allocated
  const bundles = await bundleBoth(dir, entry);
  const state = path.join(dir, "state");
  const before = childrenNamed("workerd");
  const miniflare = new Miniflare(options(bundles, state, variables));
  await miniflare.ready;
  const workerd = childrenNamed("workerd").find((pid) => !before.includes(pid));
  if (workerd === undefined) throw new Error("The runtime's process was not found.");
  await migrate(miniflare);
  return {
    service: (await miniflare.unsafeGetDirectURL("service")).origin,
    bare: (await miniflare.unsafeGetDirectURL("bare")).origin,
    cpuMs: () => cpuMs(workerd),
    sessionsDir: path.join(state, "do/service-SessionObject"),
    async stop() {
      await miniflare.dispose();
      process.off("exit", forget);
      forget();
    },
  };
}

const config = () => WranglerConfigSchema.parse(unstable_readConfig({ config: "wrangler.toml" }));

function options(
  { service, bare, compatibility }: Bundles,
  state: string,
  variables: Readonly<Record<string, string>>,
) {
  const { durable_objects, r2_buckets, d1_databases, vars } = config();
  const objects = durable_objects.bindings.map(
    ({ name, class_name }) => [name, withSql(class_name)] as const,
  );
  return convertV4MiniflareOptions({
    resourcePersistencePath: state,
    log: new NoOpLog(), // it would say that there is no network; failures are thrown
    workers: [
      {
        name: "service",
        ...modulesOf(service),
        ...compatibility,
        durableObjects: Object.fromEntries(objects),
        d1Databases: d1_databases.map(({ binding }) => binding),
        r2Buckets: r2_buckets.map(({ binding }) => binding),
        bindings: { ...vars, ...LOCAL_VARIABLES, ...variables },
        ...DIRECT,
      },
      {
        name: "bare",
        ...modulesOf(bare),
        ...compatibility,
        durableObjects: {
          ROWS: withSql("RowObject"),
          RELAYS: withSql("RelayObject"),
          BATCHES: withSql("BatchObject"),
        },
        ...DIRECT,
      },
    ],
  });
}

const withSql = (className: string) => ({ className, useSQLite: true });
const modulesOf = ({ modules, dir }: Bundle) => ({ modules, modulesRoot: dir });

/** Gives the databases their tables, as a deployment has them. */
async function migrate(miniflare: Miniflare): Promise<void> {
  for (const { binding, migrations_dir: folder } of config().d1_databases) {
    const db = await miniflare.getD1Database(binding, "service");
    for (const name of (await readdir(folder)).sort()) {
      const statements = unstable_splitSqlQuery(await readFile(path.join(folder, name), "utf8"));
      await db.batch(statements.map((statement) => db.prepare(statement)));
    }
  }
}
