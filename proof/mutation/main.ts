import { globSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { Chance } from "../../simulated/chance";
import { nothingMatches, runCommand, UsageError, wholeNumber } from "../../local/command-line";
import { bundle } from "./bundle";
import { Hand } from "./crew";
import { EQUIVALENTS } from "./equivalents";
import { instrument, type Mutant } from "./mutants";
import { type Judged, scoreOf, tableOf, tell } from "./report";
import { type Survey, SurveySchema, TriedSchema } from "./schema";
import { type Subject, SUBJECTS } from "./subjects";

/**
 * Changes the rules, or the checker that knows nothing of their code, in every small way there is, one at a time, and asks whether their
 * tests, the recorded sessions or the simulation notice. Ends with 1 below `--least`, with 2 if it cannot do what was typed.
 */
const USAGE = `npm run mutation-score [-- --sample N --seed S]

  --of WHAT     rules: src/coordination (what is taken without it)
                checker: the rules as the simulation's checker has them, by its own tests and the recorded sessions
  --file TEXT   only changes at places that hold this, such as vote.ts or vote.ts:12:3
  --sample N    of these so many, by chance
  --seed S      by which chance (1)
  --sessions N  so many simulated sessions beside the tests (150 for the rules, none for the checker)
  --least N     the score below which it fails, in percent (85)
  --jobs N      processes side by side (as many as there are cores)
  --all         shows every change, also those that were noticed`;

const TEXT = { type: "string" } as const;
const OPTIONS = {
  of: TEXT,
  file: TEXT,
  sample: TEXT,
  seed: TEXT,
  sessions: TEXT,
  least: TEXT,
  jobs: TEXT,
  all: { type: "boolean" },
  help: { type: "boolean" },
} as const;
type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

/** What was typed. `sample`: null for all of them. */
type Asked = {
  subject: Subject;
  file: string;
  sample: number | null;
  seed: number;
  sessions: number;
  least: number;
  jobs: number;
  all: boolean;
};

function askedIn({
  of = "rules",
  file = "",
  sample,
  seed,
  sessions,
  least,
  jobs,
  all = false,
}: Values): Asked {
  const subject = SUBJECTS.find(({ name }) => name === of);
  if (!subject)
    throw nothingMatches(
      of,
      SUBJECTS.map(({ name }) => name),
    );
  if (seed !== undefined && sample === undefined)
    throw new UsageError("--seed goes with --sample, which it draws.");
  return {
    subject,
    file,
    sample: wholeNumber("sample", sample, 1),
    seed: wholeNumber("seed", seed) ?? 1,
    sessions: wholeNumber("sessions", sessions) ?? subject.sessions,
    least: wholeNumber("least", least) ?? 85,
    jobs: wholeNumber("jobs", jobs, 1) ?? availableParallelism(),
    all,
  };
}

const FOLDER = path.resolve(`node_modules/.cache/massgen-edge/mutation-score-${process.pid}`);
const SURVEY_MS = 300_000;
/** A change may make things slower; beyond these nothing ends any more. */
const SLOWER = 10;
const LEAST_PATIENCE_MS = 10_000;
const MORE_HITS = 100;
const PROGRESS_MS = 10_000;

const keyOf = ({
  file,
  text,
  original,
  replacement,
}: Omit<Mutant, "id" | "line" | "column">): string =>
  [file, text, original, replacement].join("\n");

/** All that were asked for, or so many of them by chance. Throws `UsageError` where there is none. */
function chosen(mutants: readonly Mutant[], { file: place, sample, seed }: Asked): Mutant[] {
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

/** The bundle that tries mutants, with so many sessions, and what it does where nothing is changed. */
type Trial = { file: string; sessions: number; survey: Survey };

/** Every check that comes by the mutant, the quick ones first; what acts while files are loaded may show anywhere. */
function checksFor(mutant: Mutant, { atLoad, covers, ms }: Survey): number[] {
  const numbers = atLoad.includes(mutant.id) ? [...ms.keys()] : [...(covers[mutant.id] ?? [])];
  return numbers.sort((a, b) => (ms[a] ?? 0) - (ms[b] ?? 0));
}

async function judge(hand: Hand, mutant: Mutant, { survey, sessions }: Trial): Promise<Judged> {
  const checks = checksFor(mutant, survey);
  if (checks.length === 0) return { mutant, fate: "uncovered", by: null };
  const patienceMs = Math.max(
    LEAST_PATIENCE_MS,
    SLOWER * survey.ms.reduce((sum, ms) => sum + ms, 0),
  );
  const hitLimit = MORE_HITS * Math.max(100, survey.hits[mutant.id] ?? 0);
  const order = { type: "try", sessions, mutant: mutant.id, checks, hitLimit } as const;
  const isAtLoad = survey.atLoad.includes(mutant.id);
  const answer = await (isAtLoad ? hand.askFresh(order, patienceMs) : hand.ask(order, patienceMs));
  if (answer === null)
    return isAtLoad
      ? { mutant, fate: "killed", by: "loading it" }
      : { mutant, fate: "endless", by: null };
  const { by, isEndless } = TriedSchema.parse(answer);
  return { mutant, fate: by === null ? "survived" : isEndless ? "endless" : "killed", by };
}

async function surveyOf(file: string, sessions: number): Promise<Survey> {
  const hand = new Hand(file);
  const answer = await hand.ask({ type: "survey", sessions }, SURVEY_MS);
  hand.stop();
  const survey = SurveySchema.parse(answer);
  if (survey.failed.length > 0)
    throw new Error(`These fail without any change: ${survey.failed.join(", ")}`);
  return survey;
}

async function judgeAll(mutants: readonly Mutant[], trial: Trial, jobs: number): Promise<Judged[]> {
  const known = new Set(EQUIVALENTS.map(keyOf));
  const judged: Judged[] = [];
  const left = [...mutants];
  const ticker = setInterval(
    () => console.log(`${judged.length} of ${mutants.length} mutants`),
    PROGRESS_MS,
  );
  const work = async (): Promise<void> => {
    const hand = new Hand(trial.file);
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const seen = await judge(hand, mutant, trial);
      const isKnown =
        known.has(keyOf(mutant)) && (seen.fate === "survived" || seen.fate === "uncovered");
      judged.push(isKnown ? { ...seen, fate: "equivalent" } : seen);
    }
    hand.stop();
  };
  await Promise.all(Array.from({ length: jobs }, work));
  clearInterval(ticker);
  return judged;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  return measure(askedIn(values));
}

async function measure(asked: Asked): Promise<number> {
  const started = performance.now();
  const { folder, besides, tests } = asked.subject;
  const instrumented = await instrument(folder, besides);
  const mutants = chosen(instrumented.mutants, asked);
  const keys = new Set(instrumented.mutants.map(keyOf));
  const rotten = EQUIVALENTS.filter(
    (one) => one.file.startsWith(`${folder}/`) && !keys.has(keyOf(one)),
  );
  await mkdir(FOLDER, { recursive: true });
  const file = path.join(FOLDER, "trial.mjs");
  await writeFile(file, await bundle(globSync(tests).sort(), instrumented));
  const survey = await surveyOf(file, asked.sessions);
  const judged = await judgeAll(mutants, { file, sessions: asked.sessions, survey }, asked.jobs);
  await rm(FOLDER, { recursive: true, force: true });

  const order = new Map(mutants.map(({ id }, nth) => [id, nth]));
  judged.sort((a, b) => (order.get(a.mutant.id) ?? 0) - (order.get(b.mutant.id) ?? 0));
  const shown = judged.filter(
    ({ fate }) => asked.all || fate === "survived" || fate === "uncovered",
  );
  for (const one of shown) console.log(tell(one));
  for (const { file: where, text } of rotten)
    console.log(`named as equivalent, and no mutant of ${where} any more: ${text}`);
  const { counts, percent, from, to } = scoreOf(judged);
  const whole = judged.length === instrumented.mutants.length;
  console.log(`\n${tableOf(judged)}\n`);
  console.log(`mutants     ${judged.length}, of ${instrumented.mutants.length} in ${folder}`);
  console.log(
    `noticed     ${counts.killed + counts.endless}, of which ${counts.endless} because nothing ended`,
  );
  console.log(`survived    ${counts.survived}, and ${counts.uncovered} where no test comes by`);
  console.log(`equivalent  ${counts.equivalent}, not counted`);
  console.log(
    `checks      ${survey.names.length - asked.sessions} tests, ${asked.sessions} simulated sessions`,
  );
  console.log(
    `seconds     ${((performance.now() - started) / 1_000).toFixed(0)} on ${asked.jobs} cores`,
  );
  const interval = whole
    ? ""
    : `, of all with 95 % confidence ${from.toFixed(1)} to ${to.toFixed(1)} %`;
  console.log(`score       ${percent.toFixed(1)} %${interval}`);
  return percent >= asked.least && rotten.length === 0 ? 0 : 1;
}

await runCommand(main);
