import { readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { convertV4MiniflareOptions, Miniflare, NoOpLog } from "miniflare";
import { unstable_readConfig, unstable_splitSqlQuery } from "wrangler";
import { LOCAL_VARIABLES } from "../../simulated/service/local-variables";
import { WranglerConfigSchema } from "../../local/schema";
import { type Bundle, type Bundles, bundleBoth } from "./bundles";

/**
 * One workerd process with two Workers: the deployable service and the Worker of the lower bounds.
 * Each Worker has its own socket, without the development proxy. They share a process, so that a
 * slow machine affects both in the same way.
 */
export type Runtime = {
  /** Origin of the service. */
  service: string;
  /** Origin of the Worker of the lower bounds. */
  bare: string;
  /** CPU time of the whole process so far, in ms. */
  cpuMs(): number;
  /** The folder of the sessions' databases. */
  sessionsDir: string;
  stop(): Promise<void>;
};

const DIRECT = { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] };

/**
 * Starts a runtime. `storage`: an existing directory; the runtime creates a folder in it and
 * removes the folder when it stops. `entry`: a module that replaces the service's entry module.
 * `variables`: additional environment variables.
 */
export async function startRuntime(
  storage: string,
  entry?: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Runtime> {
  const dir = await mkdtemp(path.join(storage, "massgen-bench-"));
  const removeFiles = () => rmSync(dir, { recursive: true, force: true });
  // Removes the files also after an interrupt. Otherwise storage in memory would stay allocated.
  process.once("exit", removeFiles);
  const bundles = await bundleBoth(entry);
  const state = path.join(dir, "state");
  const earlierProcesses = childrenNamed("workerd");
  const miniflare = new Miniflare(options(bundles, state, variables));
  await miniflare.ready;
  const workerd = childrenNamed("workerd").find((pid) => !earlierProcesses.includes(pid));
  if (workerd === undefined) throw new Error("The runtime's process was not found.");
  await migrate(miniflare);
  return {
    service: (await miniflare.unsafeGetDirectURL("service")).origin,
    bare: (await miniflare.unsafeGetDirectURL("bare")).origin,
    cpuMs: () => cpuMs(workerd),
    sessionsDir: path.join(state, "do/service-SessionObject"),
    async stop() {
      await miniflare.dispose();
      process.off("exit", removeFiles);
      removeFiles();
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
    log: new NoOpLog(), // It would log that there is no network; failures are thrown.
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

/** Runs the migrations of the databases, as a deployment does. */
async function migrate(miniflare: Miniflare): Promise<void> {
  for (const { binding, migrations_dir: folder } of config().d1_databases) {
    const db = await miniflare.getD1Database(binding, "service");
    for (const name of (await readdir(folder)).sort()) {
      const statements = unstable_splitSqlQuery(await readFile(path.join(folder, name), "utf8"));
      await db.batch(statements.map((statement) => db.prepare(statement)));
    }
  }
}

/** `/proc` counts CPU time in ticks. Linux reports 100 ticks per second on every machine. */
const MS_PER_TICK = 10;

/** CPU time that all threads of a process have used so far, in user and system mode, in ms. */
function cpuMs(pid: number): number {
  const [user, system] = fieldsOf(pid).slice(11, 13);
  return (Number(user) + Number(system)) * MS_PER_TICK;
}

/** The child processes of this process with that name. */
const childrenNamed = (name: string): number[] =>
  readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && isChild(Number(entry), name))
    .map(Number);

function isChild(pid: number, name: string): boolean {
  try {
    return (
      readFileSync(`/proc/${pid}/comm`, "utf8").trim() === name &&
      Number(fieldsOf(pid)[1]) === process.pid
    );
  } catch {
    return false; // The process has ended.
  }
}

/**
 * The fields of `/proc/<pid>/stat` after the process name; the first is the state. The name is in
 * brackets and may contain spaces.
 */
function fieldsOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
