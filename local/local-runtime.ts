import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { signalGroup } from "./process-group";
import { type LogLine, readRuntimeLog } from "./runtime-log";
import type { LocalPlan } from "./runtime-plan";

type RuntimeHooks = {
  onLine: (line: LogLine) => void;
  /**
   * Called with the runtime's process id at each start, and with `null` when the runtime has ended.
   */
  onPid: (pid: number | null) => void;
};

const READY_WITHIN_MS = 60_000;
const READY_EVERY_MS = 20;
/** If the runtime ends more often than this, it is not started again. */
const MAX_RESTARTS = { count: 5, withinMs: 60_000 };

/**
 * Runs workerd on a Unix socket. Agents' JavaScript can end workerd at any time, so it is
 * restarted, and running turns continue from their logs. SIGKILL stops workerd: the service's tests
 * prove that no data are lost.
 */
export class LocalRuntime {
  readonly #plan: LocalPlan;
  readonly #hooks: RuntimeHooks;
  readonly #failure = Promise.withResolvers<never>();
  readonly #restarts: number[] = [];
  #child: ChildProcess | null = null;
  #isStopping = false;

  constructor(plan: LocalPlan, hooks: RuntimeHooks) {
    this.#plan = plan;
    this.#hooks = hooks;
    this.#failure.promise.catch(() => undefined);
  }

  /** Rejects if the runtime ended by itself and is not restarted. Never resolves. */
  get failure(): Promise<never> {
    return this.#failure.promise;
  }

  /**
   * Starts the runtime and waits until the service responds. Throws if the runtime exits for good,
   * or if the service does not respond within a minute.
   */
  async start(): Promise<void> {
    this.#spawn();
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await isHealthy(this.#plan.socketPath))) {
      if (performance.now() > deadline)
        throw new Error(`The service did not answer within ${READY_WITHIN_MS / 1000} s.`);
      await Promise.race([sleep(READY_EVERY_MS), this.failure]);
    }
  }

  /** Stops the runtime. May be called more than once. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    signalGroup(child, "SIGKILL");
    await closed;
  }

  /** Stops the runtime synchronously, for the exit of this process. */
  kill(): void {
    this.#isStopping = true;
    if (this.#child) signalGroup(this.#child, "SIGKILL");
  }

  #spawn(): void {
    const { file, args, config, sockets } = this.#plan;
    for (const socket of sockets) rmSync(socket, { force: true });
    // A separate process group: Ctrl+C in a terminal reaches only this process, which then stops
    // the runtime.
    const child = spawn(file, args, {
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      env: { TZ: "UTC" },
    });
    this.#child = child;
    this.#hooks.onPid(child.pid ?? null);
    readRuntimeLog(child.stdout, this.#hooks.onLine);
    readRuntimeLog(child.stderr, this.#hooks.onLine);
    child.stdin.on("error", () => undefined); // workerd exited before it had read its configuration
    child.stdin.end(config);
    child.on("error", (error) => this.#failure.reject(error));
    child.on("close", (code, signal) => this.#onEnd(signal ?? `status ${code}`));
  }

  #onEnd(cause: string): void {
    if (this.#isStopping) return;
    this.#hooks.onPid(null);
    const now = performance.now();
    this.#restarts.push(now);
    const recent = this.#restarts.filter((time) => now - time < MAX_RESTARTS.withinMs);
    if (recent.length > MAX_RESTARTS.count) {
      const message = `The runtime ended ${MAX_RESTARTS.count + 1} times within a minute (${cause}); it is not started again.`;
      return this.#failure.reject(new Error(message));
    }
    this.#hooks.onLine({
      isProblem: true,
      text: `The runtime ended (${cause}). It is started again; turns that ran continue.`,
    });
    this.#spawn();
  }
}

/** Whether the service's health check succeeds on its socket. Never throws. */
function isHealthy(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const healthCheck = request(
      { socketPath, path: "/healthz", agent: false, headers: { host: "127.0.0.1" } },
      (response) => {
        response.resume().on("end", () => resolve(response.statusCode === 200));
      },
    );
    healthCheck.setTimeout(READY_WITHIN_MS, () => healthCheck.destroy());
    healthCheck.on("error", () => resolve(false)).end();
  });
}
