import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

/** A script that `scripts/run.mjs` runs must behave as if Node ran the script directly. */

/** Long, because a busy machine needs seconds to start a process and to compile its script. */
const OUTPUT_WITHIN_MS = 60_000;
let dir = "";
/** Writes a script and returns its path. */
const entry = (name: string, text: string) => {
  const file = path.join(dir, name);
  writeFileSync(file, text);
  return file;
};
const run = (file: string, ...args: string[]) =>
  spawnSync(process.execPath, ["scripts/run.mjs", file, ...args], {
    encoding: "utf8",
    input: "from stdin",
  });

beforeAll(() => {
  dir = mkdtempSync(path.resolve("node_modules/.run-test-"));
});
afterAll(() => rmSync(dir, { recursive: true }));

describe("scripts/run.mjs", () => {
  it("forwards the arguments, stdin and the exit code", () => {
    const file = entry(
      "echo.ts",
      `process.stdin.setEncoding("utf8").on("data", (text) => console.log(JSON.stringify([process.argv.slice(2), text])));
       process.exitCode = 7;`,
    );
    const { status, stdout } = run(file, "--once", "a b", "");
    expect(JSON.parse(stdout)).toEqual([["--once", "a b", ""], "from stdin"]);
    expect(status).toBe(7);
  });

  it("imports the repository's own modules and packages, without extensions", () => {
    const file = entry(
      "imports.ts",
      `import { isTerminal } from ${JSON.stringify(path.resolve("src/protocol/events"))};
       import { z } from "zod";
       console.log(isTerminal("turn.completed"), z.string().parse("x"));`,
    );
    expect(run(file).stdout).toBe("true x\n");
  });

  it("loads a module and its packages only when the script calls import()", () => {
    entry("unavailable.ts", `import "no-such-package"; console.log("loaded");`);
    const file = entry(
      "lazy.ts",
      `console.log("started"); if (process.argv[2] === "--all") await import("./unavailable");`,
    );
    expect(run(file)).toMatchObject({ status: 0, stdout: "started\n", stderr: "" });
    const { status, stdout, stderr } = run(file, "--all");
    expect([status, stdout]).toEqual([1, "started\n"]);
    expect(stderr).toContain("no-such-package");
  });

  it("starts the same script several times concurrently, although each start writes the bundle", async () => {
    entry("part.ts", `export const part = "whole";`);
    const file = entry("again.ts", `const { part } = await import("./part"); console.log(part);`);
    const outputs = await Promise.all(
      Array.from({ length: 4 }, () =>
        text(spawn(process.execPath, ["scripts/run.mjs", file]).stdout),
      ),
    );
    expect(outputs).toEqual(Array(4).fill("whole\n"));
  });

  it("prints the line of the source file when a script throws", () => {
    const file = entry("throws.ts", `type A = string;\nconst a: A = "x";\nthrow new Error(a);`);
    const { status, stderr } = run(file);
    expect(status).toBe(1);
    expect(stderr).toContain("throws.ts:3");
  });

  it.each(["start", "proof"])(
    "npm passes every argument to %s, also arguments that Node.js knows",
    (name) => {
      const missing = spawnSync(
        "npm",
        ["run", "--silent", name, "--", "--env-file", "there-is-none"],
        { encoding: "utf8" },
      );
      expect(missing.status).not.toBe(9);
      expect(missing.stderr).not.toContain("node: ");
      if (name === "start")
        expect(missing.stderr).toBe("--env-file there-is-none: there is no such file.\n");
    },
  );

  it("lists the campaigns of the size `change` if no campaign is named", () => {
    const { status, stdout } = spawnSync("npm", ["run", "--silent", "proof", "--", "--list"], {
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([
      0,
      run("proof/main.ts", "--list", "--size", "change").stdout,
    ]);
  });

  it("fails when the source does not compile", () => {
    const { status, stderr } = run(entry("broken.ts", "const = 1;"));
    expect(status).toBe(1);
    expect(stderr).toContain("broken.ts:1");
  });

  it.each([
    { name: "a script", args: ["scripts/run.mjs", "cli/main.ts", "--help"] },
    { name: "the tests", args: ["scripts/check-node.mjs"] },
  ])("explains what to install, and does not start $name, if Node.js is too old", ({ args }) => {
    const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })`;
    const preload = `data:text/javascript,${encodeURIComponent(old)}`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", preload, ...args], {
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^Node 22\.12 or newer is needed; this is Node 20\.20\.2\. .*\n$/);
  });

  it("forwards signals to the script", async () => {
    const file = entry(
      "signal.ts",
      `process.on("SIGTERM", () => process.exit(42)); setInterval(() => {}, 1000); console.log("up");`,
    );
    const child = spawn(process.execPath, ["scripts/run.mjs", file]);
    const code = new Promise((resolve) => child.on("close", resolve));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.kill("SIGTERM");
    expect(await code).toBe(42);
  });

  it("ends when npm ends, although the shell between them forwards no signal", async () => {
    const file = entry(
      "orphan.ts",
      `process.on("SIGTERM", () => { console.log("told"); process.exit(); }); setInterval(() => {}, 1000); console.log("up");`,
    );
    const shell = spawn(
      "sh",
      ["-c", `${JSON.stringify(process.execPath)} scripts/run.mjs ${JSON.stringify(file)}; true`],
      {
        env: { ...process.env, npm_lifecycle_event: "start" },
      },
    );
    let printed = "";
    shell.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    await vi.waitFor(() => expect(printed).toBe("up\n"), OUTPUT_WITHIN_MS);
    shell.kill("SIGTERM");
    await vi.waitFor(() => expect(printed).toBe("up\ntold\n"), OUTPUT_WITHIN_MS);
  });
});
