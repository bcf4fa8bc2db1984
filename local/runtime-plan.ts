import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { Log, LogLevel } from "miniflare";
import {
  unstable_getMiniflareWorkerOptions,
  unstable_getVarsForDev,
  unstable_readConfig,
} from "wrangler";
import { bundleOf, CONFIG } from "./bundle/worker-bundle";
import { catchRuntime, workerdPath } from "./catch-runtime";
import { modulesIn } from "./service-plan";

export type LocalPlanOptions = {
  /**
   * A folder that only this user may enter. It contains the sockets and, for a moment, the
   * configuration with its secrets.
   */
  dir: string;
  /** The folder in which wrangler stores D1, R2 and objects, relative to the working directory. */
  persistTo: string;
  /** Files of variables. An empty list means `.dev.vars`. */
  envFiles: readonly string[];
  /** The public origin of the service. */
  ownOrigin: string;
  /** Variables that override those of files. */
  variables: Readonly<Record<string, string>>;
};

/** How to run workerd: `file` with `args` and `config` on its standard input. */
export type LocalPlan = {
  file: string;
  args: string[];
  config: Buffer;
  /** The Worker's socket. */
  socketPath: string;
  /** All sockets that workerd creates. It does not start if one of them exists. */
  sockets: string[];
};

/**
 * The name of the socket of the Worker itself. Requests to it bypass miniflare's entry Worker,
 * which trusts headers such as `MF-Original-URL`.
 */
const DIRECT = "direct:0:default";

/**
 * Plans the runtime of this machine from wrangler.toml, with the storage that `wrangler dev` uses.
 * Every socket of the plan is a Unix socket in `dir`. The runtime has no inspector.
 */
export async function planLocalRuntime({ dir, ...sources }: LocalPlanOptions): Promise<LocalPlan> {
  const captureFolder = path.join(dir, "caught");
  const bundle = await bundleOf();
  try {
    const options = await miniflareOptions({ bundle, ...sources });
    const { config, miniflare } = await withTemporaryFolder(dir, () =>
      catchRuntime({ dir: captureFolder, port: 1, moreSockets: [DIRECT], options }),
    );
    await disposeButKeepFolders(dir, () => miniflare.dispose());
    const [socketPath, entry] = [path.join(dir, "service"), path.join(dir, "entry")];
    const args = [
      ...["serve", "--binary", "--experimental"],
      ...[`--socket-addr=entry=unix:${entry}`, `--socket-addr=${DIRECT}=unix:${socketPath}`],
      ...[`--external-addr=loopback=unix:${loopbackSocket(dir)}`, "-"],
    ];
    return { file: workerdPath(), args, config, socketPath, sockets: [socketPath, entry] };
  } finally {
    await rm(captureFolder, { recursive: true, force: true });
  }
}

/** The socket to which the runtime sends log lines of its storage. */
export const loopbackSocket = (dir: string): string => path.join(dir, "loopback");

type Sources = Omit<LocalPlanOptions, "dir"> & { bundle: string };

async function miniflareOptions({ bundle, persistTo, envFiles, variables, ownOrigin }: Sources) {
  // Otherwise wrangler prints the names of the files of variables that it reads.
  process.env["WRANGLER_LOG"] ??= "warn";
  const config = unstable_readConfig({ config: CONFIG });
  refuseOtherWorkers(config);
  const { workerOptions } = unstable_getMiniflareWorkerOptions(config, undefined, {
    overrides: { enableContainers: false },
  });
  const { modulesRules: _, bindings: __, ...worker } = workerOptions;
  const files = envFiles.map((file) => path.resolve(file));
  const variablesFromFiles = unstable_getVarsForDev(
    path.resolve(CONFIG),
    files,
    config.vars,
    undefined,
    true,
  );
  const bindings = Object.fromEntries(
    Object.entries(variablesFromFiles).map(([name, { value }]) => [name, value]),
  );
  const main = {
    ...worker,
    name: config.name ?? "massgen-edge",
    modules: await modulesIn(bundle),
    modulesRoot: bundle,
    bindings: { ...bindings, ...variables, SERVICE_ORIGINS: ownOrigin },
    unsafeDirectSockets: [{}],
  };
  return {
    host: "127.0.0.1",
    port: 0,
    resourcePersistencePath: path.resolve(persistTo, "v3"),
    log: new Log(LogLevel.WARN),
    logRequests: false,
    cf: false as const,
    workers: [main],
  };
}

type BindingConfig = {
  durable_objects: { bindings: { name: string; script_name?: string | undefined }[] };
};

/** Throws if the Worker requires another Worker, because only a deployment has other Workers. */
function refuseOtherWorkers({ durable_objects }: BindingConfig): void {
  const other = durable_objects.bindings.find(({ script_name }) => script_name !== undefined);
  if (other === undefined) return;
  throw new Error(
    `wrangler.toml binds ${other.name} to the Worker ${other.script_name}, but npm start runs only this Worker. Comment out that binding on this machine.`,
  );
}

/** Runs `work` with its temporary files in `dir`. */
async function withTemporaryFolder<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const previousFolder = process.env["TMPDIR"];
  process.env["TMPDIR"] = dir;
  try {
    return await work();
  } finally {
    if (previousFolder === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = previousFolder;
  }
}

/**
 * Disposes of miniflare and creates its temporary folders again. Disposal removes these folders,
 * but the configuration refers to them, and the runtime requires them.
 */
async function disposeButKeepFolders(dir: string, dispose: () => Promise<void>): Promise<void> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  await dispose();
  for (const folder of folders) await mkdir(folder, { recursive: true });
}
