import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import { countOf, rotated } from "../counts";
import { EQUIVALENTS } from "./equivalents";
import { instrument } from "./mutants";

/** Runs the command. These tests try a few mutants with known results, not all mutants. */
async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const command = ["scripts/run.mjs", "proof/mutation/main.ts", "--sessions", "3", ...args];
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const output = await text(child.stdout);
  return { code: await ended, output };
}

const USES = [
  {
    name: "the tests notice most mutants of vote.ts, and the mutant that changes the winner of a tie",
    test: async () => {
      const { code, output } = await run("--file", "vote.ts", "--all");
      console.log(output);
      expect(output).toMatch(
        /vote\.ts:\d+:\d+ killed by .*\n {2}- leaders\[0\] \?\? null\n {2}\+ leaders\[0\] && null/,
      );
      expect(Number(/^score +([\d.]+) %/m.exec(output)?.[1])).toBeGreaterThanOrEqual(85);
      expect(code).toBe(0);
    },
  },
  {
    name: "the tests of the checker notice a mutant that accepts a repeated list of tools",
    test: async () => {
      const { code, output } = await run(
        "--of",
        "checker",
        "--file",
        "checker/listings.ts",
        "--sessions",
        "0",
        "--least",
        "0",
        "--all",
      );
      console.log(output);
      expect(output).toMatch(
        /checker\/listings\.ts:\d+:\d+ killed by the checker notices a listing that is repeated\n {2}- previous === undefined \|\| .*\n {2}\+ true\n/,
      );
      expect(output).toMatch(/^mutants +\d+, of \d{4} in checker$/m);
      expect(output).toMatch(/^checks +\d{3} tests, 0 simulated sessions$/m);
      expect(code).toBe(0);
    },
  },
  {
    name: "a seed always draws the same sample, and the command fails below the least score",
    test: async () => {
      const [one, other] = [
        await run("--sample", "3", "--seed", "7", "--all"),
        await run("--sample", "3", "--seed", "7", "--least", "101"),
      ];
      const table = (output: string): string =>
        output.slice(output.indexOf("\nfile "), output.indexOf("checks"));
      expect(table(one.output)).toContain("mutants     3, of");
      expect(table(other.output)).toBe(table(one.output));
      expect(other.code).toBe(1);
    },
  },
];

it.each(rotated(USES, countOf("mutation_uses")))("$name", ({ test }) => test());

it("every equivalent mutant matches exactly one mutant and has a reason", async () => {
  const subjects = await Promise.all(
    ["src/coordination", "checker"].map((folder) => instrument(folder)),
  );
  const mutants = subjects.flatMap((subject) => subject.mutants);
  expect(mutants.length).toBeGreaterThan(1_000);
  for (const { reason, ...one } of EQUIVALENTS) {
    const matching = mutants.filter((mutant) => isDeepStrictEqual({ ...mutant, ...one }, mutant));
    expect(matching, JSON.stringify(one)).toHaveLength(1);
    expect(reason.length).toBeGreaterThan(20);
  }
});
