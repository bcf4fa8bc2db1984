import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PRESENTATION } from "../../scripts/demo/texts";
import { freePort, isHealthy } from "../../scripts/service/loopback";

/** `npm run demo` as its user meets it: a real process, the real service below it. */
type Demo = { child: ChildProcess; output: { stdout: string; stderr: string }; ended: Promise<number | null> };

let scratch = "";
const started: ChildProcess[] = [];

beforeEach(() => {
  scratch = mkdtempSync(path.join(tmpdir(), "demo-test-"));
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});

function demo(...args: string[]): Demo {
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
}

async function portInUse(): Promise<{ port: number; server: Server }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("no port");
  return { port: address.port, server };
}

const healthy = (port: number) => isHealthy(`http://127.0.0.1:${port}`);

describe("npm run demo", () => {
  it("shows a run from start to end, prints the answer, and leaves nothing behind", async () => {
    const port = await freePort();
    const { output, ended } = demo("--once", "--port", `${port}`);
    const status = await ended;
    expect(output.stdout, output.stderr).toBe(`${PRESENTATION}\n`);
    expect(status).toBe(0);
    const story = [
      "sprinter votes for agent3.1:",
      "thinker answers: agent1.1",
      "agent1.1 voids 1 vote: sprinter",
      "sprinter is shown agent1.1 and decides again",
      "sprinter answers: agent2.2",
      "judge votes for agent3.1 before it has seen agent1.1, agent2.2: not counted",
      "judge is shown agent1.1, agent2.2",
      "judge votes for agent2.2:",
      "settled: agent2.2 wins, 3 of 3 votes, unanimous",
      "sprinter presents the final answer",
      "sprinter searched the web: PostgreSQL superuser_reserved_connections default",
      "PostgreSQL Documentation: Connections and Authentication",
    ];
    const places = story.map((line) => output.stderr.indexOf(line));
    expect(places, output.stderr).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(output.stderr.match(/: not counted/g)).toHaveLength(1);
    expect(output.stderr).toMatch(/^cost +\$0\.0[1-9]/m);
    expect(output.stderr).toMatch(new RegExp(`^run +http://127\\.0\\.0\\.1:${port}/api/sessions/session_[0-9a-z]+$`, "m"));
    expect(await healthy(port)).toBe(false);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("ends everything it started when %s comes in the middle", async (signal) => {
    const port = await freePort();
    const { child, output, ended } = demo("--once", "--port", `${port}`);
    await expect.poll(() => output.stderr, { timeout: 60_000 }).toContain("sprinter answers");
    expect(await healthy(port)).toBe(true);
    child.kill(signal);
    expect(await ended).toBe(4);
    expect(await healthy(port)).toBe(false);
    expect(readdirSync(scratch)).toEqual([]);
    expect(output.stdout).toBe("");
  });

  it("says so when its port is taken, and does not talk to who holds it", async () => {
    const { port, server } = await portInUse();
    let callers = 0;
    server.on("connection", (socket) => {
      callers += 1;
      socket.destroy();
    });
    const { output, ended } = demo("--once", "--port", `${port}`);
    expect(await ended).toBe(2);
    server.close();
    expect(output.stderr).toContain(`Port ${port} is not free`);
    expect(callers).toBe(0);
  });

  it("explains its options", async () => {
    const { output, ended } = demo("--twice");
    expect(await ended).toBe(1);
    expect(output.stderr).toContain("usage: npm run demo");
    const helped = demo("--help");
    expect(await helped.ended).toBe(0);
    expect(helped.output.stdout).toMatch(/^usage: npm run demo/);
  });
});
