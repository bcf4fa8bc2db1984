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
const SURVEY_TIMEOUT_MS = 300_000;
/**
 * A mutant counts as endless if its checks take this many times as long as without a mutant, and
 * longer than `LEAST_TIMEOUT_MS`.
 */
const TIMEOUT_FACTOR = 10;
const LEAST_TIMEOUT_MS = 10_000;
/** A mutant also counts as endless if its code runs this many times as often as in the survey. */
const HIT_LIMIT_FACTOR = 100;
/** A mutant whose code runs seldom is treated as if its code had run so often. */
const LEAST_HITS = 100;
const PROGRESS_EVERY_MS = 10_000;

/** Identifies a mutant by its change and its source line, without the line number. */
const keyOf = ({
  file,
  text,
  original,
  replacement,
}: Omit<Mutant, "id" | "line" | "column">): string =>
  [file, text, original, replacement].join("\n");

/** All matching mutants, or a random sample. Throws `UsageError` if none matches. */
function chooseMutants(
  mutants: readonly Mutant[],
  { file: place, sample, seed }: MutationScoreArguments,
): Mutant[] {
  const matching = mutants.filter(({ file, line, column }) =>
    `${file}:${line}:${column}`.includes(place),
  );
  if (matching.length === 0)
    throw nothingMatches(
      place,
      mutants.map((mutant) => mutant.file),
    );
  if (sample === null) return matching;
  const chance = new Chance(seed);
  const drawn: Mutant[] = [];
  while (drawn.length < sample && matching.length > 0)
    drawn.push(...matching.splice(chance.int(0, matching.length - 1), 1));
  return drawn;
}

/**
 * `file`: the bundle that tries mutants. `sessions`: the number of simulated sessions. `survey`:
 * the results of all checks without a mutant.
 */
type Trial = { file: string; sessions: number; survey: Survey };

/**
 * The numbers of the checks that run the mutant's code, the fastest check first. If the code
 * already runs while files load, these are all checks, because the mutant can affect any check.
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
  const surveyMs = survey.ms.reduce((sum, ms) => sum + ms, 0);
  const timeoutMs = Math.max(LEAST_TIMEOUT_MS, TIMEOUT_FACTOR * surveyMs);
  const hitLimit = HIT_LIMIT_FACTOR * Math.max(LEAST_HITS, survey.hits[mutant.id] ?? 0);
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
  const answer = await worker.ask({ type: "survey", sessions }, SURVEY_TIMEOUT_MS);
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
  const equivalentKeys = new Set(EQUIVALENTS.map(keyOf));
  const results: MutantResult[] = [];
  const pending = [...mutants];
  const ticker = setInterval(
    () => console.log(`${results.length} of ${mutants.length} mutants`),
    PROGRESS_EVERY_MS,
  );
  const work = async (): Promise<void> => {
    const worker = new Worker(trial.file);
    for (let mutant = pending.shift(); mutant; mutant = pending.shift()) {
      const result = await judge(worker, mutant, trial);
      const isUnnoticed = result.outcome === "survived" || result.outcome === "uncovered";
      const isEquivalent = isUnnoticed && equivalentKeys.has(keyOf(mutant));
      results.push(isEquivalent ? { ...result, outcome: "equivalent" } : result);
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
  const mutants = chooseMutants(instrumented.mutants, options);
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
  const isComplete = results.length === instrumented.mutants.length;
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
  const interval = isComplete
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
