import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { freePort } from "../../simulated/service/loopback";

/**
 * The tests run the scripts as a newcomer does: in a new clone that was never set up. The clone has
 * these parts.
 */
const PARTS = [
  "package.json",
  "package-lock.json",
  "wrangler.toml",
  ".dev.vars.example",
  "tsconfig.json",
  "src",
  "cli",
  "client",
  "durable-objects",
  "d1",
  "configs",
  "r2-layout",
  "local",
  "simulated",
  "scripts",
  "migrations",
];
let clone = "";

beforeAll(() => {
  // Inside the repository, because elsewhere the bundler does not follow the link to
  // `node_modules`.
  clone = mkdtempSync(path.resolve("node_modules/.clone-test-"));
  for (const part of PARTS) cpSync(part, path.join(clone, part), { recursive: true });
  symlinkSync(path.resolve("node_modules"), path.join(clone, "node_modules"));
});
afterAll(() => rmSync(clone, { recursive: true }));

const script = (name: string, ...args: string[]) =>
  spawnSync(process.execPath, ["scripts/run.mjs", `scripts/${name}.ts`, ...args], {
    cwd: clone,
    encoding: "utf8",
  });

describe("npm run setup", () => {
  it("creates the missing files of a new clone, adds missing settings to an existing file, and then has nothing to do", () => {
    const first = script("setup");
    expect(first.stderr).toBe("");
    expect(first.stdout).toContain(".dev.vars");
    expect(existsSync(path.join(clone, ".wrangler/state/v3/d1"))).toBe(true);

    const vars = path.join(clone, ".dev.vars");
    writeFileSync(vars, 'OPENAI_API_KEY="mine"\n');
    expect(script("setup")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("SEALING_KEYS"),
      stderr: "",
    });
    const added = readFileSync(vars, "utf8");
    expect(added).toMatch(/^OPENAI_API_KEY="mine"\n[\s\S]*SEALING_KEYS="?1:[\w+/=]{44}"?\n$/);
    expect(script("setup")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("set up already"),
      stderr: "",
    });
    expect(readFileSync(vars, "utf8")).toBe(added);
  });

  it("applies a later migration", () => {
    writeFileSync(path.join(clone, "migrations/0999_later.sql"), "CREATE TABLE later (id TEXT);");
    expect(script("setup").stdout).toContain("database");
    writeFileSync(path.join(clone, "migrations/0999_later.sql"), "CREATE TABLE broken (");
    writeFileSync(path.join(clone, "migrations/1000_broken.sql"), "CREATE TABLE broken (");
    const failed = script("setup");
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain("1000_broken.sql");
  });
});

it("npm run deploy -- --dry-run prints the size and uploads nothing", () => {
  const { status, stdout } = script("deploy", "--dry-run");
  expect(stdout).toMatch(/^Bundle: \d+ KiB raw, \d+ KiB gzip/);
  expect(status).toBe(0);
});

it("npm start refuses to serve other machines", () => {
  const { status, stdout, stderr } = script("start", "--ip=0.0.0.0");
  expect([status, stdout]).toEqual([1, ""]);
  for (const named of ["--ip 0.0.0.0", "127.0.0.1", "npm run deploy"])
    expect(stderr).toContain(named);
});

type ServiceProcess = {
  child: ChildProcess;
  printed: () => string;
  ended: Promise<number | null>;
  healthz: string;
};

/** Runs `npm start` and waits until the service responds. */
async function startService(port: number, ...args: string[]): Promise<ServiceProcess> {
  const child = spawn(
    process.execPath,
    ["scripts/run.mjs", "scripts/start.ts", "--port", String(port), ...args],
    { cwd: clone },
  );
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
  }
  const ended = once(child, "close").then(() => child.exitCode);
  const healthz = `http://127.0.0.1:${port}/healthz`;
  await vi.waitFor(() => expect(text).toContain("The service runs at"), {
    timeout: 90_000,
    interval: 100,
  });
  expect((await fetch(healthz)).status).toBe(200);
  return { child, printed: () => text, ended, healthz };
}

const runtimesBelow = ({ child }: ServiceProcess): number[] =>
  spawnSync("pgrep", ["-P", String(child.pid), "workerd"], { encoding: "utf8" })
    .stdout.trim()
    .split("\n")
    .filter(Boolean)
    .map(Number);

/** Whether the process runs. A process in state Z (zombie) has ended. */
const isRunning = (pid: number): boolean =>
  /^[^Z]/.test(
    spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim(),
  );

const TEAM =
  "agent: {id: a, backend: {type: chatcompletion, model: x, base_url: 'http://127.0.0.1:9/v1', api_key: simulated}}";
const RUN = { question: "Is it still there?", config_yaml: TEAM };
const JSON_BODY = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(RUN),
};

describe("npm start", () => {
  beforeAll(() => {
    cpSync(".dev.vars.example", path.join(clone, ".dev.vars"));
    rmSync(path.join(clone, "migrations/1000_broken.sql"), { force: true });
    rmSync(path.join(clone, "migrations/0999_later.sql"), { force: true });
  });

  it("serves on loopback only, prints the next command, and leaves no process behind when it ends", async () => {
    const port = await freePort();
    const { child, printed, ended, healthz } = await startService(port);
    // A server that listens on every address would also respond here.
    await expect(fetch(healthz.replace("127.0.0.1", "127.0.0.2"))).rejects.toThrow();
    expect(printed()).toContain(`npm run ask -- --server http://127.0.0.1:${port} `);
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    await expect(fetch(healthz)).rejects.toThrow();
  });

  it("still has its stored data after a restart, and refuses a second service on the same storage", async () => {
    const [port, other] = [await freePort(), await freePort()];
    const place = ["--persist-to", "data"];
    const first = await startService(port, ...place);
    const run = await fetch(`http://127.0.0.1:${port}/api/runs`, JSON_BODY);
    const { session_id: session } = z.object({ session_id: z.string() }).parse(await run.json());

    const second = script("start", "--port", `${other}`, ...place);
    expect([second.status, second.stderr]).toEqual([
      1,
      expect.stringContaining("already runs on the storage data"),
    ]);
    const third = script("start", "--port", `${port}`, "--persist-to", "elsewhere");
    expect([third.status, third.stderr]).toEqual([
      1,
      expect.stringContaining(`Port ${port} of 127.0.0.1 is in use`),
    ]);

    first.child.kill("SIGTERM");
    expect(await first.ended).toBe(143);
    const again = await startService(port, ...place);
    expect((await fetch(`http://127.0.0.1:${port}/api/sessions/${session}`)).status).toBe(200);
    again.child.kill("SIGTERM");
    await again.ended;
  });

  it("restarts its runtime after a crash, and ends the runtime that a killed service left behind", async () => {
    const port = await freePort();
    const first = await startService(port);
    const [runtime = 0] = runtimesBelow(first);
    process.kill(runtime, "SIGKILL");
    await vi.waitFor(() => expect(first.printed()).toContain("It is started again"));
    await vi.waitFor(async () => expect((await fetch(first.healthz)).status).toBe(200), {
      timeout: 20_000,
    });
    const [orphan = 0] = runtimesBelow(first);
    expect(orphan).not.toBe(runtime);
    first.child.kill("SIGKILL");
    await first.ended;
    expect(isRunning(orphan)).toBe(true);
    const second = await startService(port);
    expect(isRunning(orphan)).toBe(false);
    second.child.kill("SIGTERM");
    await second.ended;
  });
});
