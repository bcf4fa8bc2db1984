import { globSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { Chance } from "../../simulated/chance";
import { nothingMatches } from "../../local/command-line";
import { recordFigures } from "../record-figures";
import type { MutationScoreArguments } from "./arguments";
import { bundle } from "./mutant-bundle";
import { Worker } from "./worker";
import { EQUIVALENTS } from "./equivalents";
import { instrument, type Mutant } from "./mutants";
import { describeResult, type MutantResult, scoreOf, tableOf } from "./report";
import { type Survey, SurveySchema, TrialResultSchema } from "./schema";
import type { Subject } from "./subjects";

const FOLDER = path.resolve(`node_modules/.cache/massgen-edge/mutation-score-${process.pid}`);
const SURVEY_MS = 300_000;
/** A mutant may make checks slower. Beyond these limits it counts as endless. */
const SLOWER = 10;
const LEAST_TIMEOUT_MS = 10_000;
const MORE_HITS = 100;
const PROGRESS_MS = 10_000;

const keyOf = ({
  file,
  text,
  original,
  replacement,
}: Omit<Mutant, "id" | "line" | "column">): string =>
  [file, text, original, replacement].join("\n");

/** All matching mutants, or a random sample. Throws `UsageError` if none matches. */
function chosen(
  mutants: readonly Mutant[],
  { file: place, sample, seed }: MutationScoreArguments,
): Mutant[] {
  const left = mutants.filter(({ file, line, column }) =>
    `${file}:${line}:${column}`.includes(place),
  );
  if (left.length === 0)
    throw nothingMatches(
      place,
      mutants.map((mutant) => mutant.file),
    );
  if (sample === null) return left;
  const chance = new Chance(seed);
  const some: Mutant[] = [];
  while (some.length < sample && left.length > 0)
    some.push(...left.splice(chance.int(0, left.length - 1), 1));
  return some;
}

/** The bundle that tries mutants, the number of sessions, and the results without a mutant. */
type Trial = { file: string; sessions: number; survey: Survey };

/**
 * The checks that reach the mutant, fast ones first. Code that runs while files load can affect any
 * check.
 */
function checksFor(mutant: Mutant, { atLoad, covers, ms }: Survey): number[] {
  const numbers = atLoad.includes(mutant.id) ? [...ms.keys()] : [...(covers[mutant.id] ?? [])];
  return numbers.sort((a, b) => (ms[a] ?? 0) - (ms[b] ?? 0));
}

async function judge(
  worker: Worker,
  mutant: Mutant,
  { survey, sessions }: Trial,
): Promise<MutantResult> {
  const checks = checksFor(mutant, survey);
  if (checks.length === 0) return { mutant, outcome: "uncovered", by: null };
  const timeoutMs = Math.max(LEAST_TIMEOUT_MS, SLOWER * survey.ms.reduce((sum, ms) => sum + ms, 0));
  const hitLimit = MORE_HITS * Math.max(100, survey.hits[mutant.id] ?? 0);
  const order = { type: "try", sessions, mutant: mutant.id, checks, hitLimit } as const;
  const isAtLoad = survey.atLoad.includes(mutant.id);
  const answer = await (isAtLoad
    ? worker.askFresh(order, timeoutMs)
    : worker.ask(order, timeoutMs));
  if (answer === null)
    return isAtLoad
      ? { mutant, outcome: "killed", by: "loading the code" }
      : { mutant, outcome: "endless", by: null };
  const { by, isEndless } = TrialResultSchema.parse(answer);
  return { mutant, outcome: by === null ? "survived" : isEndless ? "endless" : "killed", by };
}

async function surveyOf(file: string, sessions: number): Promise<Survey> {
  const worker = new Worker(file);
  const answer = await worker.ask({ type: "survey", sessions }, SURVEY_MS);
  worker.stop();
  const survey = SurveySchema.parse(answer);
  if (survey.failed.length > 0)
    throw new Error(`These checks fail without a mutant: ${survey.failed.join(", ")}`);
  return survey;
}

async function judgeAll(
  mutants: readonly Mutant[],
  trial: Trial,
  jobs: number,
): Promise<MutantResult[]> {
  const known = new Set(EQUIVALENTS.map(keyOf));
  const results: MutantResult[] = [];
  const left = [...mutants];
  const ticker = setInterval(
    () => console.log(`${results.length} of ${mutants.length} mutants`),
    PROGRESS_MS,
  );
  const work = async (): Promise<void> => {
    const worker = new Worker(trial.file);
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const seen = await judge(worker, mutant, trial);
      const isKnown =
        known.has(keyOf(mutant)) && (seen.outcome === "survived" || seen.outcome === "uncovered");
      results.push(isKnown ? { ...seen, outcome: "equivalent" } : seen);
    }
    worker.stop();
  };
  await Promise.all(Array.from({ length: jobs }, work));
  clearInterval(ticker);
  return results;
}

/**
 * Tries the mutants, prints the score, and returns the exit code. Throws `UsageError` if no mutant
 * matches.
 */
export async function measure(options: MutationScoreArguments): Promise<number> {
  const started = performance.now();
  const { folder, tests } = options.subject;
  const instrumented = await instrument(folder);
  const mutants = chosen(instrumented.mutants, options);
  const keys = new Set(instrumented.mutants.map(keyOf));
  const outdated = EQUIVALENTS.filter(
    (one) => one.file.startsWith(`${folder}/`) && !keys.has(keyOf(one)),
  );
  await mkdir(FOLDER, { recursive: true });
  const file = path.join(FOLDER, "trial.mjs");
  await writeFile(file, await bundle(globSync(tests).sort(), instrumented));
  const survey = await surveyOf(file, options.sessions);
  const results = await judgeAll(
    mutants,
    { file, sessions: options.sessions, survey },
    options.jobs,
  );
  await rm(FOLDER, { recursive: true, force: true });

  const order = new Map(mutants.map(({ id }, nth) => [id, nth]));
  results.sort((a, b) => (order.get(a.mutant.id) ?? 0) - (order.get(b.mutant.id) ?? 0));
  const shown = results.filter(
    ({ outcome }) => options.all || outcome === "survived" || outcome === "uncovered",
  );
  for (const one of shown) console.log(describeResult(one));
  for (const { file: where, text } of outdated)
    console.log(`listed as equivalent, but ${where} has no such mutant: ${text}`);
  const { counts, percent, from, to } = scoreOf(results);
  const whole = results.length === instrumented.mutants.length;
  console.log(`\n${tableOf(results)}\n`);
  console.log(`mutants     ${results.length}, of ${instrumented.mutants.length} in ${folder}`);
  console.log(
    `noticed     ${counts.killed + counts.endless}, ${counts.endless} of them by a timeout or endless loop`,
  );
  console.log(`survived    ${counts.survived}, and ${counts.uncovered} that no test reaches`);
  console.log(`equivalent  ${counts.equivalent}, not counted`);
  console.log(
    `checks      ${survey.names.length - options.sessions} tests, ${options.sessions} simulated sessions`,
  );
  console.log(
    `seconds     ${((performance.now() - started) / 1_000).toFixed(0)} on ${options.jobs} cores`,
  );
  const interval = whole
    ? ""
    : `, of all mutants ${from.toFixed(1)} to ${to.toFixed(1)} % with 95 % confidence`;
  console.log(`score       ${percent.toFixed(1)} %${interval}`);
  if (options.isRecorded) await record(options.subject, results, instrumented.mutants.length);
  return percent >= options.least && outdated.length === 0 ? 0 : 1;
}

/** Stores the score for the documents, with its interval if the results are a sample of `total`. */
async function record(
  { name }: Subject,
  results: readonly MutantResult[],
  total: number,
): Promise<void> {
  const { counts, percent, from, to } = scoreOf(results);
  const data = {
    mutants: results.length,
    of: total,
    noticed: counts.killed + counts.endless,
    equivalent: counts.equivalent,
    percent,
    ...(results.length < total && { from, to }),
  };
  await recordFigures("campaigns", { [`mutation-${name}`]: { data } });
}
