import type { Mutant } from "./mutants";

/**
 * What happened to a mutant. `killed`: a check failed. `endless`: a check did not end, which counts
 * as noticed. `survived`: all checks passed. `uncovered`: no check runs the code. `equivalent`: no
 * test can notice the mutant; `EQUIVALENTS` gives the reason.
 */
export type Outcome = "killed" | "endless" | "survived" | "uncovered" | "equivalent";
/** `by`: the name of the check that noticed the mutant; `null` if there is none. */
export type MutantResult = { mutant: Mutant; outcome: Outcome; by: string | null };

/** `percent`: the score. `from` and `to`: its 95 % confidence interval, in percent. */
type Score = { counts: Record<Outcome, number>; percent: number; from: number; to: number };

/**
 * The share of noticed mutants, without the equivalent mutants. Has Wilson's 95 % confidence
 * interval for the score of all mutants, if `results` are a sample. The score is 100 % if all
 * mutants are equivalent. Throws if no mutant was tried.
 */
export function scoreOf(results: readonly MutantResult[]): Score {
  if (results.length === 0) throw new Error("No mutant was tried, so there is no score.");
  const counts = { killed: 0, endless: 0, survived: 0, uncovered: 0, equivalent: 0 };
  for (const { outcome } of results) counts[outcome] += 1;
  const noticed = counts.killed + counts.endless;
  const all = results.length - counts.equivalent;
  if (all === 0) return { counts, percent: 100, from: 0, to: 100 };
  const share = noticed / all;
  const z = 1.96; // The normal quantile of 95 % confidence.
  const center = (share + z ** 2 / (2 * all)) / (1 + z ** 2 / all);
  const halfWidth =
    (z * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2))) / (1 + z ** 2 / all);
  return {
    counts,
    percent: 100 * share,
    from: 100 * (center - halfWidth),
    to: 100 * (center + halfWidth),
  };
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

/** A table with one line per file. The file with the lowest score is last, next to the totals. */
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

/** The printed text of a mutant and its result. */
export function describeResult({ mutant, outcome, by }: MutantResult): string {
  const { file, line, column, original, replacement } = mutant;
  const ending = by === null ? "" : ` by ${by}`;
  return `${file}:${line}:${column} ${outcome}${ending}\n  - ${shorten(original)}\n  + ${shorten(replacement)}`;
}

const MAX_CODE_LENGTH = 160;

function shorten(code: string): string {
  const line = code.replace(/\s+/g, " ");
  return line.length > MAX_CODE_LENGTH ? `${line.slice(0, MAX_CODE_LENGTH)}…` : line;
}
