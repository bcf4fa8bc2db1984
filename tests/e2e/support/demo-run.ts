import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";
import { isHealthy } from "../../../simulated/service/loopback";

/** A run of `npm run demo` as a real process with the real service. */
type Demo = {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  ended: Promise<number | null>;
};
/** `demo` starts a run. `scratch` returns the folder for temporary files of the current test. */
type Demos = { demo: (...args: string[]) => Demo; scratch: () => string };

/**
 * Call it once per test file. Each test gets its own folder for temporary files. All processes of a
 * test are killed at its end.
 */
export function demos(): Demos {
  let scratch = "";
  const started: ChildProcess[] = [];
  beforeEach(() => {
    scratch = mkdtempSync(path.join(tmpdir(), "demo-test-"));
  });
  afterEach(() => {
    for (const child of started.splice(0)) child.kill("SIGKILL");
    rmSync(scratch, { recursive: true, force: true });
  });
  const demo = (...args: string[]): Demo => {
    const env = { ...process.env, TMPDIR: scratch };
    const child = spawn(process.execPath, ["scripts/run.mjs", "scripts/demo.ts", ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    started.push(child);
    const output = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
    return { child, output, ended: once(child, "close").then(() => child.exitCode) };
  };
  return { demo, scratch: () => scratch };
}

export const healthy = (port: number) => isHealthy(`http://127.0.0.1:${port}`);
