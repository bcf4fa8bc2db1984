import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { nothingMatches, UsageError, wholeNumber } from "../../local/command-line";
import { type Subject, SUBJECTS } from "./subjects";

export const USAGE = `npm run mutation-score [-- --sample N --seed S]

  --of WHAT     rules: src/coordination (default)
                checker: the simulation's checker, with its own tests and the
                recorded sessions
  --file TEXT   only mutants whose place contains TEXT, such as vote.ts or
                vote.ts:12:3
  --sample N    a random sample of N of these
  --seed S      seed of the sample (1)
  --sessions N  number of simulated sessions in addition to the tests
                (150 for the rules, none for the checker)
  --least N     fail below this score, in percent (85)
  --jobs N      number of worker processes (default: number of cores)
  --all         print every mutant, also the noticed ones
  --record      store the figures in docs/proof/data/campaigns.json,
                for the documents`;

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
  record: { type: "boolean" },
  help: { type: "boolean" },
} as const;
/**
 * `file`: a text that the place of a mutant must contain. `sample`: `null` for all mutants.
 * `least`: the lowest score that passes, in percent. `jobs`: the number of worker processes.
 */
export type MutationScoreArguments = {
  subject: Subject;
  file: string;
  sample: number | null;
  seed: number;
  sessions: number;
  least: number;
  jobs: number;
  all: boolean;
  isRecorded: boolean;
};

/**
 * Returns `null` for `--help`. Throws `UsageError`, or the error of Node's `parseArgs`, for invalid
 * arguments.
 */
export function parseMutationScoreArguments(
  argv: readonly string[],
): MutationScoreArguments | null {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS });
  if (values.help) return null;
  const { of = "rules", file = "", sample, seed, all = false, record = false } = values;
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
    sessions: wholeNumber("sessions", values.sessions) ?? subject.sessions,
    least: wholeNumber("least", values.least) ?? 85,
    jobs: wholeNumber("jobs", values.jobs, 1) ?? availableParallelism(),
    all,
    isRecorded: record,
  };
}
