import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { newSealingKeys } from "../sealing-keys";
import { freePort, isHealthy } from "../service/loopback";
import { signalGroup } from "../service/process-group";
import { wranglerCommand, wranglerQuietly } from "../wrangler";

/** The service in a process group of its own, on a loopback port, with storage that is gone afterwards. */
export type DemoService = {
  server: string;
  /** The end of what it printed, for whoever has to explain a failure. */
  logTail(): string;
  /** Rejects if it ends by itself. Never resolves. */
  failure: Promise<never>;
  /** Ends it with all its children. May be called twice. */
  stop(): Promise<void>;
};

export type DemoServiceOptions = {
  /** The one origin that configs may name although it is not public. */
  allowedOrigin: string;
  /** Absent: a free one. */
  port?: number | undefined;
  signal: AbortSignal;
};

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 5_000;
const TAIL_LINES = 40;

/** Starts the service and waits until it answers. Throws with the end of its log if it does not. */
export async function startService({ allowedOrigin, port, signal }: DemoServiceOptions): Promise<DemoService> {
  const chosen = await freePort(port);
  const state = await mkdtemp(path.join(tmpdir(), "massgen-demo-"));
  const running: DemoService[] = [];
  try {
    await writeFile(variablesFile(state), newSealingKeys());
    await wranglerQuietly(["d1", "migrations", "apply", "DB", "--local", "--persist-to", state]);
    signal.throwIfAborted();
    const service = launch(chosen, state, devArguments(chosen, state, allowedOrigin));
    running.push(service);
    await Promise.race([healthy(service.server, signal), service.failure]);
    return service;
  } catch (error) {
    await running[0]?.stop();
    await rm(state, { recursive: true, force: true });
    throw signal.aborted ? signal.reason : error; // an interrupted child is no failure of its own
  }
}

/** Takes the place of .dev.vars: the demo needs no keys of providers and shall not see any. */
const variablesFile = (state: string): string => path.join(state, "variables");

function devArguments(port: number, state: string, allowedOrigin: string): string[] {
  const place = ["--ip", "127.0.0.1", "--port", `${port}`, "--inspector-port", "0", "--persist-to", state];
  const variables = ["--var", "OPEN_ACCESS:loopback", "--var", `ALLOWED_ORIGINS:${allowedOrigin}`];
  return ["dev", "--show-interactive-dev-session=false", "--env-file", variablesFile(state), ...place, ...variables];
}

function launch(port: number, state: string, args: string[]): DemoService {
  const { file, args: command, env } = wranglerCommand(args);
  // A group of its own: one signal reaches wrangler and the runtime below it, and the terminal's Ctrl+C reaches only us.
  const child = spawn(file, command, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const logTail = tailOf(child);
  const killAtExit = () => signalGroup(child, "SIGKILL");
  process.once("exit", killAtExit);
  const ended = new Promise<void>((done) => child.once("close", () => done()).once("error", () => done()));
  let stopping = false;
  const failure = ended.then((): Promise<never> => {
    if (stopping) return new Promise(() => undefined);
    throw new Error(
      `The service ended by itself (${child.signalCode ?? `status ${child.exitCode}`}). Its last words:\n${logTail()}`,
    );
  });
  failure.catch(() => undefined); // whoever races against it hears of it
  async function stop(): Promise<void> {
    stopping = true;
    signalGroup(child, "SIGTERM");
    await Promise.race([ended, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
    signalGroup(child, "SIGKILL"); // also what outlived its parent
    process.off("exit", killAtExit);
    await rm(state, { recursive: true, force: true });
  }
  return { server: `http://127.0.0.1:${port}`, logTail, failure, stop };
}

function tailOf({ stdout, stderr }: ChildProcess): () => string {
  let kept = "";
  const keep = (chunk: Buffer) => {
    kept = (kept + chunk.toString()).split("\n").slice(-TAIL_LINES).join("\n");
  };
  stdout?.on("data", keep);
  stderr?.on("data", keep);
  return () => kept.trim();
}

async function healthy(server: string, signal: AbortSignal): Promise<void> {
  const giveUp = AbortSignal.any([signal, AbortSignal.timeout(READY_WITHIN_MS)]);
  while (!(await isHealthy(server, giveUp))) {
    signal.throwIfAborted();
    if (giveUp.aborted) throw new Error(`The service did not answer within ${READY_WITHIN_MS / 1000} seconds.`);
    await sleep(100);
  }
}
