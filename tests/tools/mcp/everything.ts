import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import path from "node:path";
import { vi } from "vitest";
import { freePort } from "../../../simulated/service/loopback";

/** Starts the reference server of the protocol, over HTTP, as a process. */
export async function startEverything() {
  const port = await freePort();
  const manifest = createRequire(import.meta.url).resolve(
    "@modelcontextprotocol/server-everything/package.json",
  );
  const entry = path.join(path.dirname(manifest), "dist/index.js");
  const env = { ...process.env, PORT: String(port) };
  const child: ChildProcess = spawn(process.execPath, [entry, "streamableHttp"], {
    env,
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await vi.waitFor(() => fetch(url), { timeout: 30_000, interval: 100 });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return { url, kill };
}
