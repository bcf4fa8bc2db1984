import type { Reporter } from "vitest/node";
import { NEEDS } from "../../src/config/needs.ts";

/** Prints, after a run that held the sample configs, which of them run and what the others are refused for. */

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be added to
  interface TaskMeta {
    /** Needs of one sample file that are not served; empty: it runs. */
    sample?: { file: string; needs: readonly string[] };
  }
}

export type Sample = { file: string; needs: readonly string[] };

export const sampleTable: Reporter = {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const samples = tests.flatMap((test) => test.meta().sample ?? []);
    if (samples.length > 0) process.stdout.write(`\n${drawSamples(samples)}\n`);
  },
};

/** Files in the order of their names, those that run first. */
export function drawSamples(samples: readonly Sample[]): string {
  const sorted = samples.toSorted(
    (a, b) => Number(a.needs.length > 0) - Number(b.needs.length > 0) || a.file.localeCompare(b.file, "en"),
  );
  const width = Math.max(...sorted.map(({ file }) => file.length)) + 2;
  const rows = sorted.map(({ file, needs }) => `  ${file.padEnd(width)}${standingOf(needs)}`);
  const running = sorted.filter(({ needs }) => needs.length === 0).length;
  return [`Sample configs: ${running} of ${sorted.length} run`, ...rows].join("\n");
}

/** Needs that whoever runs the team can meet: completes "runs …". */
const MET_BY: Readonly<Record<string, string>> = {
  host_context_path: "once its files are pushed",
  stdio_mcp: "with `npm run bridge`",
  local_inference: "where the operator allows its models' address",
  localhost_mcp: "where the operator allows its server's address, or through a tunnel to it",
};

/** Needs that are none of the list are kinds of backends. */
const NO_BACKEND = "no backend that runs in a service";
const REASONS = new Map(Object.entries(NEEDS).map(([need, { why }]) => [need, why] as const));

function standingOf(needs: readonly string[]): string {
  const ways = needs.flatMap((need) => MET_BY[need] ?? []);
  const runs = ["runs", ways.join(" and ")].filter(Boolean).join(" ");
  const unmet = needs.filter((need) => MET_BY[need] === undefined);
  if (unmet.length === 0) return runs;
  const reasons = unmet.map((need) => `${need} (${REASONS.get(need) ?? NO_BACKEND})`);
  return `refused: ${reasons.join(", ")}${ways.length > 0 ? `; else it ${runs}` : ""}`;
}
