import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, isHealthy } from "../../simulated/service/loopback";

/**
 * The runtime with a one-line Worker, which is killed and restarted like the service. Its start
 * time is the lower bound of the service's start time.
 */
export class BareProcess {
  readonly #dir: string;
  readonly #port: number;
  #child: ChildProcess | null = null;
  readonly #kill = () => void this.#child?.kill("SIGKILL");

  private constructor(dir: string, port: number) {
    this.#dir = dir;
    this.#port = port;
    process.once("exit", this.#kill);
  }

  static async prepare(): Promise<BareProcess> {
    const dir = await mkdtemp(path.join(tmpdir(), "massgen-bench-"));
    const port = await freePort();
    await writeFile(
      path.join(dir, "worker.js"),
      'export default { fetch: () => new Response("ok") };\n',
    );
    await writeFile(path.join(dir, CONFIG), configOf(port));
    return new BareProcess(dir, port);
  }

  /** Starts the process and waits until it answers. Returns the time in ms. */
  async start(): Promise<number> {
    const startedAt = performance.now();
    const child = spawn(workerdPath(), ["serve", path.join(this.#dir, CONFIG)], {
      stdio: "ignore",
    });
    this.#child = child;
    while (!(await isHealthy(`http://127.0.0.1:${this.#port}`))) {
      if (child.exitCode !== null) throw new Error("The runtime does not start.");
      await sleep(READY_EVERY_MS);
    }
    return performance.now() - startedAt;
  }

  /** Sends SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async stop(): Promise<void> {
    await this.kill();
    process.off("exit", this.#kill);
    await rm(this.#dir, { recursive: true, force: true });
  }
}

/** Interval at which a starting process is polled; the same as for the service. */
const READY_EVERY_MS = 5;
const CONFIG = "config.capnp";

const configOf = (port: number): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-10-01"
);
`;

function workerdPath(): string {
  const file: unknown = createRequire(createRequire(import.meta.url).resolve("miniflare"))(
    "workerd",
  ).default;
  if (typeof file !== "string")
    throw new Error("The workerd package does not export the path of its program.");
  return file;
}
