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
  /** Its process id, each time it is started; null when it has ended. */
  onPid: (pid: number | null) => void;
};

const READY_WITHIN_MS = 60_000;
const READY_EVERY_MS = 20;
/** A runtime that ends more often than this is not started again. */
const MOST_RESTARTS = { count: 5, withinMs: 60_000 };

/**
 * workerd on a Unix socket. Agents' JavaScript can end it at any time, so it is restarted; running
 * turns continue from their logs. Stopped by SIGKILL, because the service is tested for it.
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

  /** Rejects if it ended for good by itself. Never resolves. */
  get failure(): Promise<never> {
    return this.#failure.promise;
  }

  /**
   * Starts it and waits until it answers. Throws if it exits before or does not answer within a
   * minute.
   */
  async start(): Promise<void> {
    this.#spawn();
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await answers(this.#plan.socketPath))) {
      if (performance.now() > deadline)
        throw new Error(`The service did not answer within ${READY_WITHIN_MS / 1000} s.`);
      await Promise.race([sleep(READY_EVERY_MS), this.failure]);
    }
  }

  /** Ends it. May be called twice. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "close");
    signalGroup(child, "SIGKILL");
    await gone;
  }

  /** Stops it synchronously, for the exit of this process. */
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
    child.stdin.on("error", () => undefined); // it exited before it had read its configuration
    child.stdin.end(config);
    child.on("error", (error) => this.#failure.reject(error));
    child.on("close", (code, signal) => this.#ended(signal ?? `status ${code}`));
  }

  #ended(how: string): void {
    if (this.#isStopping) return;
    this.#hooks.onPid(null);
    const now = performance.now();
    this.#restarts.push(now);
    if (
      this.#restarts.filter((at) => now - at < MOST_RESTARTS.withinMs).length > MOST_RESTARTS.count
    ) {
      const message = `The runtime ended ${MOST_RESTARTS.count + 1} times within a minute (${how}); it is not started again.`;
      return this.#failure.reject(new Error(message));
    }
    this.#hooks.onLine({
      isProblem: true,
      text: `The runtime ended (${how}). It is started again; turns that ran continue.`,
    });
    this.#spawn();
  }
}

/** Whether the service's health check succeeds on its socket. Never throws. */
function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asking = request(
      { socketPath, path: "/healthz", agent: false, headers: { host: "127.0.0.1" } },
      (response) => {
        response.resume().on("end", () => resolve(response.statusCode === 200));
      },
    );
    asking.setTimeout(READY_WITHIN_MS, () => asking.destroy());
    asking.on("error", () => resolve(false)).end();
  });
}
