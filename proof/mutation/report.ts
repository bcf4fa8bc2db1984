import type { Mutant } from "./mutants";

/**
 * The result of a mutant. `endless`: a check did not end, which counts as noticed. `equivalent`: no
 * test can notice it, for a reason on file.
 */
export type Outcome = "killed" | "endless" | "survived" | "uncovered" | "equivalent";
export type MutantResult = { mutant: Mutant; outcome: Outcome; by: string | null };

type Score = { counts: Record<Outcome, number>; percent: number; from: number; to: number };

/**
 * The noticed share of all mutants that can be noticed, with Wilson's 95 % confidence interval for
 * all mutants. 100 % if none can be noticed. Throws if no mutant was tried.
 */
export function scoreOf(results: readonly MutantResult[]): Score {
  if (results.length === 0) throw new Error("No mutant was tried, so there is no score.");
  const counts = { killed: 0, endless: 0, survived: 0, uncovered: 0, equivalent: 0 };
  for (const { outcome } of results) counts[outcome] += 1;
  const noticed = counts.killed + counts.endless;
  const all = results.length - counts.equivalent;
  if (all === 0) return { counts, percent: 100, from: 0, to: 100 };
  const share = noticed / all;
  const z = 1.96;
  const middle = (share + z ** 2 / (2 * all)) / (1 + z ** 2 / all);
  const reach =
    (z * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2))) / (1 + z ** 2 / all);
  return { counts, percent: 100 * share, from: 100 * (middle - reach), to: 100 * (middle + reach) };
}

const COLUMNS = [
  "mutants",
  "killed",
  "endless",
  "survived",
  "uncovered",
  "equivalent",
  "score",
] as const;

/** One line per file, the worst last. */
export function tableOf(results: readonly MutantResult[]): string {
  const files = Map.groupBy(results, ({ mutant }) => mutant.file);
  const rows = [...files].map(([file, own]) => ({ file, own, score: scoreOf(own) }));
  rows.sort((a, b) => b.score.percent - a.score.percent || a.file.localeCompare(b.file));
  const widest = Math.max(4, ...rows.map(({ file }) => file.length));
  const lines = rows.map(({ file, own, score: { counts, percent } }) => {
    const { killed, endless, survived, uncovered, equivalent } = counts;
    const cells = [
      own.length,
      killed,
      endless,
      survived,
      uncovered,
      equivalent,
      `${percent.toFixed(1)} %`,
    ];
    return [
      file.padEnd(widest),
      ...cells.map((cell, nth) => String(cell).padStart((COLUMNS[nth] ?? "").length + 1)),
    ].join(" ");
  });
  return [
    ["file".padEnd(widest), ...COLUMNS.map((column) => ` ${column}`)].join(" "),
    ...lines,
  ].join("\n");
}

/** A mutant and its result, for people. */
export function describeResult({ mutant, outcome, by }: MutantResult): string {
  const { file, line, column, original, replacement } = mutant;
  const ending = by === null ? "" : ` by ${by}`;
  return `${file}:${line}:${column} ${outcome}${ending}\n  - ${short(original)}\n  + ${short(replacement)}`;
}

const MOST = 160;

function short(code: string): string {
  const line = code.replace(/\s+/g, " ");
  return line.length > MOST ? `${line.slice(0, MOST)}…` : line;
}
