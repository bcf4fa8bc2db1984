import type { Reporter } from "vitest/node";

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
  const rows = sorted.map(
    ({ file, needs }) => `  ${file.padEnd(width)}${needs.length === 0 ? "runs" : `refused: ${needs.join(", ")}`}`,
  );
  const running = sorted.filter(({ needs }) => needs.length === 0).length;
  return [`Sample configs: ${running} of ${sorted.length} run`, ...rows].join("\n");
}
