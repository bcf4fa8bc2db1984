import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { countOf, rotated } from "../counts";
import { MEASUREMENTS } from "./measurements";
import { type Results, ResultsSchema, toTable } from "./report";

/**
 * The quick figures. These tests do not judge times, because the machine may be busy; they judge
 * exact figures, which are the same on any machine.
 */
const QUICK = ["cancel", "resume", "budget", "bundle"];
/** Some of the other figures; `rotated` chooses different ones for each commit. */
const OTHERS = rotated(
  MEASUREMENTS.map(({ name }) => name).filter((name) => !QUICK.includes(name)),
  countOf("bench_figures"),
);
/** Disconnects of readers, and runs with a cap. */
const TRIALS = countOf("bench_trials");
let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "massgen-bench-test-"));
});
afterAll(() => rm(dir, { recursive: true }));

async function bench(
  ...args: string[]
): Promise<{ code: number | null; out: string; errorOutput: string }> {
  const child = spawn(process.execPath, ["scripts/run.mjs", "proof/bench/main.ts", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const [out, errorOutput] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, out, errorOutput };
}

const ResumeDataSchema = z.object({
  disconnects: z.number(),
  frames: z.number().positive(),
  lost: z.number(),
  doubled: z.number(),
  differing: z.number(),
});
const BudgetDataSchema = z.object({
  runs: z.number(),
  overshot: z.number(),
  mostOfCap: z.number(),
  close: z.number(),
});

/** Expects that each line has a measured value and a lower bound. */
function expectBounds({ figures }: Results): void {
  for (const { lines, seconds } of Object.values(figures)) {
    expect(seconds).toBeGreaterThan(0);
    expect(lines.length).toBeGreaterThan(0);
    for (const { measured, runs, bound } of lines) {
      expect(measured).toMatch(/\d/);
      expect(measured).not.toContain("NaN");
      expect(runs).toBeTruthy();
      expect(bound).toMatch(/\d/);
    }
  }
}

it("writes valid JSON to the given file and prints the table last", async () => {
  const file = path.join(dir, "out.json");
  const { code, out, errorOutput } = await bench(
    "--only",
    QUICK.join(","),
    "--seed",
    "7",
    "--trials",
    `${TRIALS}`,
    "--json",
    file,
  );
  console.log(out);
  expect(code, errorOutput).toBe(0);
  const results = ResultsSchema.parse(JSON.parse(await readFile(file, "utf8")));
  expect(results.seed).toBe(7);
  expect(Object.keys(results.figures)).toEqual(QUICK);
  expectBounds(results);
  for (const { lines } of Object.values(results.figures)) {
    for (const { aim } of lines) expect(aim).toMatch(/: (met|missed)/);
  }
  const exact = z.object({
    resume: z.object({ data: ResumeDataSchema }),
    budget: z.object({ data: BudgetDataSchema }),
  });
  const { resume, budget } = exact.parse(results.figures);
  expect(resume.data).toMatchObject({ lost: 0, doubled: 0, differing: 0 });
  expect(resume.data.disconnects).toBeGreaterThanOrEqual(TRIALS);
  expect(budget.data).toMatchObject({ runs: TRIALS, overshot: 0 });
  expect(
    budget.data.close,
    "runs that come close to their cap: they would exceed it if a reservation were too small",
  ).toBeGreaterThanOrEqual(TRIALS / 16);
  expect(out).toBe(`All figures as JSON: ${path.relative("", file)}\n\n${toTable(results)}`);
});

it(`measures ${OTHERS.length} other figures in the smallest size, each with its bound`, {
  timeout: 600_000,
}, async () => {
  const file = path.join(dir, "small.json");
  const { code, out, errorOutput } = await bench(
    "--small",
    "--only",
    OTHERS.join(","),
    "--seed",
    "7",
    "--json",
    file,
  );
  console.log(out);
  expect(code, errorOutput).toBe(0);
  const results = ResultsSchema.parse(JSON.parse(await readFile(file, "utf8")));
  expect(Object.keys(results.figures)).toEqual(OTHERS);
  expectBounds(results);
});

it("lists each figure in --help, and marks the figures that support --trials", async () => {
  const { code, out } = await bench("--help");
  expect(code).toBe(0);
  for (const { name, about } of MEASUREMENTS)
    expect(out).toMatch(new RegExp(`^  ${name} +${RegExp.escape(about)}`, "m"));
  const marked = out.split("\n").filter((line) => line.includes("--trials: "));
  expect(marked.map((line) => line.trim().split(" ")[0])).toEqual(["resume", "budget"]);
  expect(out).toMatch(/^For example: npm run bench -- --only /m);
});
