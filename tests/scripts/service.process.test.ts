import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { freePort } from "../../scripts/service/loopback";

/** The scripts as a newcomer runs them: in a clone of their own that has never been set up. */
const PARTS = [
  "package.json",
  "wrangler.toml",
  ".dev.vars.example",
  "tsconfig.json",
  "src",
  "durable-objects",
  "configs",
  "r2-layout",
  "scripts",
  "migrations",
];
let clone = "";

beforeAll(() => {
  // Inside the repository, because the bundler follows links to packages only from there.
  clone = mkdtempSync(path.resolve("node_modules/.clone-test-"));
  for (const part of PARTS) cpSync(part, path.join(clone, part), { recursive: true });
  symlinkSync(path.resolve("node_modules"), path.join(clone, "node_modules"));
});
afterAll(() => rmSync(clone, { recursive: true }));

const script = (name: string, ...args: string[]) =>
  spawnSync(process.execPath, ["scripts/run.mjs", `scripts/${name}.ts`, ...args], { cwd: clone, encoding: "utf8" });

describe("npm run setup", () => {
  it("makes what a fresh clone lacks, adds what somebody's own settings lack, then finds nothing to do", () => {
    const first = script("setup");
    expect(first.stderr).toBe("");
    expect(first.stdout).toContain(".dev.vars");
    expect(existsSync(path.join(clone, ".wrangler/state/v3/d1"))).toBe(true);

    const vars = path.join(clone, ".dev.vars");
    writeFileSync(vars, 'OPENAI_API_KEY="mine"\n');
    expect(script("setup")).toMatchObject({ status: 0, stdout: expect.stringContaining("SEALING_KEYS"), stderr: "" });
    const added = readFileSync(vars, "utf8");
    expect(added).toMatch(/^OPENAI_API_KEY="mine"\n[\s\S]*SEALING_KEYS="?1:[\w+/=]{44}"?\n$/);
    expect(script("setup")).toMatchObject({ status: 0, stdout: expect.stringContaining("set up already"), stderr: "" });
    expect(readFileSync(vars, "utf8")).toBe(added);
  });

  it("applies a migration that came later", () => {
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
  expect(stderr).toBe(
    "Without keys the service is for this machine only: --ip 0.0.0.0 would open it to others; leave it out, or name 127.0.0.1.\n",
  );
});

it("npm start serves on loopback alone, and leaves nothing behind when it is ended", async () => {
  rmSync(path.join(clone, "migrations/1000_broken.sql"), { force: true });
  rmSync(path.join(clone, "migrations/0999_later.sql"), { force: true });
  const port = await freePort();
  const healthz = `http://127.0.0.1:${port}/healthz`;
  const child = spawn(process.execPath, ["scripts/run.mjs", "scripts/start.ts", "--port", String(port)], { cwd: clone });
  const ended = new Promise((resolve) => child.on("close", resolve));
  try {
    await vi.waitFor(async () => expect((await fetch(healthz)).status).toBe(200), { timeout: 60_000, interval: 200 });
    // A server bound to every address would answer on this one too.
    await expect(fetch(healthz.replace("127.0.0.1", "127.0.0.2"))).rejects.toThrow();
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
  await vi.waitFor(() => expect(fetch(healthz)).rejects.toThrow(), { timeout: 10_000 });
});
