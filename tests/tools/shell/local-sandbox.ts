import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { SandboxClient } from "../../../src/tools/shell";

/**
 * A sandbox with the published interface, but without a container: it runs processes of this
 * machine in the directory `root`. `writeFile` does not create directories, because the interface
 * does not promise that. A request after `destroy` starts a new sandbox.
 */
export type LocalSandbox = SandboxClient & {
  root: string;
  /** Paths that were written, relative to `root`. */
  written: string[];
  /** Number of sandboxes that were started. */
  started: number;
  /** Deletes the directory `root`. */
  remove(): Promise<void>;
};

export async function localSandbox(): Promise<LocalSandbox> {
  const root = await mkdtemp(path.join(tmpdir(), "sandbox-"));
  const running = new Set<ChildProcess>();
  let isRunning = false;
  const ensureStarted = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    local.started += 1;
    await mkdir(path.join(root, "workspace"), { recursive: true });
  };
  const local: LocalSandbox = {
    root,
    written: [],
    started: 0,
    // A process that was ended may still write.
    remove: () => rm(root, { recursive: true, maxRetries: 5 }),
    async destroy() {
      isRunning = false;
      for (const child of running) killAll(child);
      for (const name of await readdir(root)) await rm(path.join(root, name), { recursive: true });
    },
    async exec(command, options) {
      await ensureStarted();
      const child = spawn("bash", ["-c", command], {
        cwd: options?.cwd ?? root,
        stdio: ["ignore", "pipe", "pipe"],
      });
      running.add(child);
      const timer = setTimeout(() => killAll(child), options?.timeout ?? 60_000);
      const exited = new Promise<number>((resolve) =>
        child.once("close", (code) => resolve(code ?? 137)),
      );
      const [stdout, stderr, exitCode] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        exited,
      ]);
      clearTimeout(timer);
      running.delete(child);
      return { exitCode, stdout, stderr };
    },
    async writeFile(file, content, options) {
      await ensureStarted();
      local.written.push(file.slice(root.length));
      await writeFile(file, content, options?.encoding === "base64" ? "base64" : "utf8");
      return { success: true };
    },
    async readFile(file) {
      await ensureStarted();
      return { success: true, content: await readFile(file, "base64"), encoding: "base64" };
    },
  };
  return local;
}

/** Kills a process and all its descendants. Some of them are in other process groups. */
function killAll({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n");
  const parents = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const processIds = [pid];
  for (const processId of processIds)
    for (const [child, parent] of parents)
      if (parent === processId && child !== undefined) processIds.push(child);
  for (const processId of processIds) kill(processId);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // ESRCH: the process has already ended.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
