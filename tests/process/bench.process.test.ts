import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ResultsSchema, toTable } from "../../scripts/bench/report";

/** The command with a few quick figures: it ends, and says what it measured. What a busy machine measures is not judged. */
const QUICK = ["cancel", "bundle"];
let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "massgen-bench-test-"));
});
afterAll(() => rm(dir, { recursive: true }));

async function bench(...args: string[]): Promise<{ code: number | null; out: string; complaints: string }> {
  const child = spawn(process.execPath, ["scripts/run.mjs", "scripts/bench/main.ts", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const [out, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, out, complaints };
}

it("leaves valid JSON where it says, and the table last", async () => {
  const file = path.join(dir, "out.json");
  const { code, out, complaints } = await bench("--only", QUICK.join(","), "--seed", "7", "--json", file);
  console.log(out);
  expect(code, complaints).toBe(0);
  const results = ResultsSchema.parse(JSON.parse(await readFile(file, "utf8")));
  expect(results.seed).toBe(7);
  expect(Object.keys(results.figures)).toEqual(QUICK);
  for (const { lines, seconds } of Object.values(results.figures)) {
    expect(seconds).toBeGreaterThan(0);
    for (const { runs, bound, aim } of lines) {
      expect(runs).toBeTruthy();
      expect(bound).toMatch(/\d/);
      expect(aim).toMatch(/: (met|missed)/);
    }
  }
  expect(out).toBe(`All figures as JSON: ${path.relative("", file)}\n\n${toTable(results)}`);
});

it.each([
  {
    name: "a figure that there is not",
    args: ["--only", "bundle,beauty"],
    says: "There is no figure beauty. There are: first-event",
  },
  { name: "a seed that is no number", args: ["--seed", "lucky"], says: "--seed is a whole number, not lucky." },
])("refuses $name before it measures anything", async ({ args, says }) => {
  const { code, out, complaints } = await bench(...args);
  expect(complaints).toContain(says);
  expect([code, out]).toEqual([1, ""]);
});
