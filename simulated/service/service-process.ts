import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, isHealthy } from "./loopback";
import { signalGroup } from "../../local/process-group";
import { type PlanOptions, planRuntime, type RuntimePlan } from "../../local/service-plan";
import { within } from "./within";

const READY_WITHIN_MS = 20_000;
/** Long: on a busy machine, a killed process may end late. */
const ENDED_WITHIN_MS = 10_000;
const READY_POLL_MS = 5;
const LOG_CHARS = 20_000;

/**
 * The service in the real runtime (workerd) on a loopback port. A test can kill it without warning
 * and restart it on the same port with the same storage. workerd has its own process group, so that
 * `kill` also ends its child processes.
 */
export class ServiceProcess {
  readonly url: string;
  readonly #dir: string;
  readonly #plan: RuntimePlan;
  readonly #cleanUp = () => {
    this.#child?.kill("SIGKILL"); // a process of another group does not end with this one
    rmSync(this.#dir, { recursive: true, force: true });
  };
  #child: ChildProcess | null = null;
  #log = "";
  /** Called with each line of output. */
  onLine: (line: string) => void = () => {};

  private constructor({ url, dir, plan }: { url: string; dir: string; plan: RuntimePlan }) {
    this.url = url;
    this.#dir = dir;
    this.#plan = plan;
    process.once("exit", this.#cleanUp);
  }

  /**
   * Bundles the service and plans its runtime, but does not start it. `statements`: SQL that runs
   * on the new database. `inspectorPort`: port of the debugger, for measurements of memory.
   */
  static async prepare(
    variables: PlanOptions["variables"],
    statements: readonly string[] = [],
    {
      inspectorPort,
      ...more
    }: Pick<PlanOptions, "entry" | "isReadable" | "loaders"> & { inspectorPort?: number } = {},
  ): Promise<ServiceProcess> {
    const dir = await mkdtemp(path.join(tmpdir(), "massgen-service-"));
    const port = await freePort();
    try {
      const { args, ...rest } = await planRuntime({ dir, port, variables, statements, ...more });
      const [serve = "serve", ...others] = args;
      const inspector =
        inspectorPort === undefined ? [] : [`--inspector-addr=127.0.0.1:${inspectorPort}`];
      return new ServiceProcess({
        url: `http://127.0.0.1:${port}`,
        dir,
        plan: { ...rest, args: [serve, ...inspector, ...others] },
      });
    } catch (error) {
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  /** Starts the service and waits until it answers. Returns the duration in ms. */
  async start(): Promise<number> {
    const startedAt = performance.now();
    const { file, args, config } = this.#plan;
    const child = spawn(file, args, { detached: true, stdio: ["pipe", "pipe", "pipe"] });
    this.#child = child;
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on("line", (line) => this.#appendToLog(line));
    child.stdin.on("error", () => undefined); // killed before it read its configuration
    child.stdin.end(config);
    while (!(await isHealthy(this.url, AbortSignal.timeout(READY_WITHIN_MS)))) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`The service ended at once:\n${this.#log}`);
      if (performance.now() - startedAt > READY_WITHIN_MS)
        throw new Error(`The service does not answer:\n${this.#log}`);
      await sleep(READY_POLL_MS);
    }
    return performance.now() - startedAt;
  }

  /** Sends SIGKILL to the process group. Resolves when it has ended and all its output is read. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "close");
    signalGroup(child, "SIGKILL");
    await within(ENDED_WITHIN_MS, `the end of process ${child.pid} after SIGKILL`, ended);
  }

  /** Kills the service and removes its storage. */
  async stop(): Promise<void> {
    await this.kill();
    await this.#plan.dispose();
    process.off("exit", this.#cleanUp);
    await rm(this.#dir, { recursive: true, force: true });
  }

  /** Process id of the running runtime; `null` while it is not running. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The folder of its storage. */
  get stateDir(): string {
    return path.join(this.#dir, "state");
  }

  /** The end of the output of all its runs. */
  get log(): string {
    return this.#log;
  }

  #appendToLog(line: string): void {
    this.#log = `${this.#log}${line}\n`.slice(-LOG_CHARS);
    this.onLine(line);
  }
}
