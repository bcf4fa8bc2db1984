import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { SandboxClient } from "../../../src/tools/shell";

/**
 * A sandbox with the published interface, without a container: real processes of this machine,
 * below their own directory. `writeFile` does not create directories, because the interface does
 * not promise it. A request after `destroy` gets a new sandbox. `started`: the number of sandboxes
 * so far.
 */
export type LocalSandbox = SandboxClient & {
  root: string;
  written: string[];
  started: number;
  remove(): Promise<void>;
};

export async function localSandbox(): Promise<LocalSandbox> {
  const root = await mkdtemp(path.join(tmpdir(), "sandbox-"));
  const running = new Set<ChildProcess>();
  let isThere = false;
  const begin = async (): Promise<void> => {
    if (isThere) return;
    isThere = true;
    local.started += 1;
    await mkdir(path.join(root, "workspace"), { recursive: true });
  };
  const local: LocalSandbox = {
    root,
    written: [],
    started: 0,
    remove: () => rm(root, { recursive: true }),
    async destroy() {
      isThere = false;
      for (const child of running) killAll(child);
      for (const name of await readdir(root)) await rm(path.join(root, name), { recursive: true });
    },
    async exec(command, options) {
      await begin();
      const child = spawn("bash", ["-c", command], {
        cwd: options?.cwd ?? root,
        stdio: ["ignore", "pipe", "pipe"],
      });
      running.add(child);
      const timer = setTimeout(() => killAll(child), options?.timeout ?? 60_000);
      const ended = new Promise<number>((resolve) =>
        child.once("close", (code) => resolve(code ?? 137)),
      );
      const [stdout, stderr, exitCode] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        ended,
      ]);
      clearTimeout(timer);
      running.delete(child);
      return { exitCode, stdout, stderr };
    },
    async writeFile(file, content, options) {
      await begin();
      local.written.push(file.slice(root.length));
      await writeFile(file, content, options?.encoding === "base64" ? "base64" : "utf8");
      return { success: true };
    },
    async readFile(file) {
      await begin();
      return { success: true, content: await readFile(file, "base64"), encoding: "base64" };
    },
  };
  return local;
}

/** With all its processes; some of them lead their own process group. */
function killAll({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n");
  const parents = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const family = [pid];
  for (const one of family)
    for (const [child, parent] of parents)
      if (parent === one && child !== undefined) family.push(child);
  for (const one of family) kill(one);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // it has just ended
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
