import type { Reporter } from "vitest/node";
import { NEEDS } from "../../src/config/needs.ts";

/**
 * Shows which sample configs run, and why the others do not. The table is printed after tests with
 * samples, and is written as a document.
 */

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be added to
  interface TaskMeta {
    sample?: Sample;
  }
}

/**
 * The result of a sample file. `needs`: the unsupported features that it needs; empty if it runs.
 * `sent`: its files that are attached to the question.
 */
export type Sample = { file: string; needs: readonly string[]; sent: readonly string[] };

export const sampleTable: Reporter = {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const samples = tests.flatMap((test) => test.meta().sample ?? []);
    if (samples.length > 0) process.stdout.write(`\n${drawSamples(samples)}\n`);
  },
};

/** The table as text for a terminal. */
export function drawSamples(samples: readonly Sample[]): string {
  const sorted = sortSamples(samples);
  const width = Math.max(...sorted.map(({ file }) => file.length)) + 2;
  const rows = sorted.map((sample) => `  ${sample.file.padEnd(width)}${resultOf(sample)}`);
  return [`Sample configs: ${countOf(sorted)}`, ...rows].join("\n");
}

/** The command that writes `docs/reference/massgen-configs.md`. */
export const SAMPLES_COMMAND =
  "npx vitest run --project unit tests/config/massgen-configs.test.ts -u";

/** The contents of `docs/reference/massgen-configs.md`. */
export function documentSamples(samples: readonly Sample[]): string {
  const sorted = sortSamples(samples);
  const rows = sorted.map((sample) => `| \`${sample.file}\` | ${resultOf(sample)} |`);
  return `# MassGen's sample configs

Which configs of MassGen run here, which unsupported features the others need, and what some need before a run.
${countOf(sorted)}, for an operator who has a key for every provider and allows no address on a private network.
The text before a bracket is the code of the unsupported feature. \`massgen-edge config validate\` shows it with line and column.

\`proof/samples/samples.proof.test.ts\` runs each config that runs up to its answer, unchanged except for keys, addresses and names of
pushed files. It uses simulated models, one server for all tool servers, and small files for those that configs name.

\`${SAMPLES_COMMAND}\`
writes this page where the samples are. Without \`-u\` the test fails if this page says something else.

| File | Result |
|---|---|
${rows.join("\n")}
`;
}

/**
 * Sorts samples: first samples that run, then samples that run after a step of the user, then the
 * others; each group by name.
 */
const sortSamples = (samples: readonly Sample[]): Sample[] =>
  samples.toSorted(
    (a, b) => rankOf(a.needs) - rankOf(b.needs) || a.file.localeCompare(b.file, "en"),
  );

function countOf(samples: readonly Sample[]): string {
  const running = samples.filter(({ needs }) => needs.length === 0).length;
  const more = samples.filter(({ needs }) => needs.length > 0 && needs.every(isMet)).length;
  return `${running} of ${samples.length} run, ${more} more as their rows say`;
}

/** Needs that a user can meet, and how. The texts complete "runs …". */
const MET_BY: Readonly<Record<string, string>> = {
  host_context_path: "once its files are pushed",
  stdio_mcp: "with `npm run bridge`",
  local_inference: "where the operator allows its models' address",
  localhost_mcp: "with `npm run bridge`",
};

/** The text for a sample that names files for the question. Completes "runs …". */
const SENDS = "with its files, which `massgen-edge` sends along";

/** The reason for needs that `NEEDS` does not contain: they are types of backends. */
const NO_BACKEND = "no backend that runs in a service";
const REASONS = new Map([
  ...Object.entries(NEEDS).map(([need, { why }]) => [need, why] as const),
  // Only files that cannot be sent remain.
  [
    "upload_files",
    "video is not supported; download files at addresses without https first",
  ] as const,
]);

/** Whether the user of a team can meet this need. */
export const isMet = (need: string): boolean => MET_BY[need] !== undefined;

const rankOf = (needs: readonly string[]): number =>
  needs.length === 0 ? 0 : needs.every(isMet) ? 1 : 2;

function resultOf({ needs, sent }: Sample): string {
  const ways = [
    ...(sent.length > 0 ? [SENDS] : []),
    ...needs.flatMap((need) => MET_BY[need] ?? []),
  ];
  const runs = ["runs", ways.join(" and ")].filter(Boolean).join(" ");
  const unmet = needs.filter((need) => !isMet(need));
  if (unmet.length === 0) return runs;
  const reasons = unmet.map((need) => `${need} (${REASONS.get(need) ?? NO_BACKEND})`);
  return `refused: ${reasons.join(", ")}${ways.length > 0 ? `; else it ${runs}` : ""}`;
}
