import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";

/** The commands a person would run, in the size that CI has time for; in a process of their own, so that they use every core. */

const SEEDS = Number(process.env["SIMULATE_SEEDS"] ?? 10_000);
const TIMEOUT_MS = 30 * 60_000;

async function run(script: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ["scripts/run.mjs", script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const output = await text(child.stdout);
  return { code: await ended, output };
}

const figure = (output: string, name: string): string | undefined => new RegExp(`^${name} +(\\S+)`, "m").exec(output)?.[1];

it(`keeps every invariant in ${SEEDS} simulated sessions of the service`, { timeout: TIMEOUT_MS }, async () => {
  const { code, output } = await run("scripts/simulate.ts", "--seeds", String(SEEDS));
  console.log(output);
  expect(figure(output, "failed"), output).toBe("0");
  expect(figure(output, "seeds")).toBe(`${SEEDS},`);
  expect(code).toBe(0);
});

it("gives the same logs in another process, on another number of cores", { timeout: TIMEOUT_MS }, async () => {
  const outputs = [
    await run("scripts/simulate.ts", "--seeds", "60", "--jobs", "1"),
    await run("scripts/simulate.ts", "--seeds", "60", "--jobs", "3"),
  ];
  const [first, second] = outputs.map(({ output }) => figure(output, "hash of logs"));
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  expect(second).toBe(first);
});

it("catches every planted bug, and nothing where no bug is planted", { timeout: TIMEOUT_MS }, async () => {
  const { code, output } = await run("scripts/planted-bugs.ts");
  console.log(output);
  const planted = Number(figure(output, "planted"));
  expect(planted).toBeGreaterThanOrEqual(20);
  expect(figure(output, "caught"), output).toBe(String(planted));
  expect(figure(output, "as meant"), output).toBe(`${planted},`);
  expect(figure(output, "false alarms"), output).toBe("0");
  expect(code).toBe(0);
});

it("says so if a planted bug is not caught, as when no session is simulated", { timeout: TIMEOUT_MS }, async () => {
  const { code, output } = await run("scripts/planted-bugs.ts", "--only", "I8 ", "--sessions", "0");
  expect(output).toContain("NOT CAUGHT");
  expect(figure(output, "caught")).toBe("0");
  expect(code).toBe(1);
});
