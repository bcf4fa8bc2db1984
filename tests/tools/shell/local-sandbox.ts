import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { SandboxClient } from "../../../src/tools/shell";

/**
 * A sandbox as its published interface describes it, without a container: real processes of this machine, below a directory of
 * their own. `writeFile` does not make directories, as the interface promises none.
 */
export type LocalSandbox = SandboxClient & { root: string; written: string[]; remove(): Promise<void> };

export async function localSandbox(): Promise<LocalSandbox> {
  const root = await mkdtemp(path.join(tmpdir(), "sandbox-"));
  await mkdir(path.join(root, "workspace"));
  const written: string[] = [];
  return {
    root,
    written,
    remove: () => rm(root, { recursive: true }),
    exec(command, options) {
      const settings = { cwd: options?.cwd ?? root, timeout: options?.timeout ?? 60_000, maxBuffer: 50_000_000 };
      return new Promise((resolve) => {
        execFile("bash", ["-c", command], settings, (error, stdout, stderr) => {
          const exitCode = error ? (typeof error.code === "number" ? error.code : 137) : 0;
          resolve({ exitCode, stdout, stderr });
        });
      });
    },
    async writeFile(file, content, options) {
      written.push(file.slice(root.length));
      await writeFile(file, content, options?.encoding === "base64" ? "base64" : "utf8");
      return { success: true };
    },
    async readFile(file) {
      return { success: true, content: await readFile(file, "base64"), encoding: "base64" };
    },
  };
}
