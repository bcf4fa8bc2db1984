import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { matching, wholeNumber } from "../../local/command-line";
import { nameOf, PLANTED_BUGS, type PlantedBug } from "./planted-bugs";

export const USAGE = `npm run planted-bugs [-- --only TEXT]

  --only TEXT   plant only bugs whose "INVARIANT NAME" contains this text;
                may be repeated
  --sessions N  simulate at most N sessions of the service per bug, and ten
                times as many of the rules; or play N histories of files
                for a bug of the command line (150)
  --jobs N      parallel processes (number of cores)
  --record      store the figures in docs/proof/data/campaigns.json,
                for the documents`;

const TEXT = { type: "string" } as const;
const OPTIONS = {
  only: { ...TEXT, multiple: true },
  sessions: TEXT,
  jobs: TEXT,
  record: { type: "boolean", default: false },
  help: { type: "boolean" },
} as const;

/**
 * `bugs`: the chosen bugs. `sessions`: the maximum number of simulated sessions of the service per
 * bug. `jobs`: the number of parallel processes.
 */
export type PlantedBugsArguments = {
  bugs: readonly PlantedBug[];
  sessions: number;
  jobs: number;
  isRecorded: boolean;
};

/**
 * Returns `null` for `--help`. Throws `UsageError`, or the error of Node's `parseArgs`, for invalid
 * arguments.
 */
export function parsePlantedBugsArguments(argv: readonly string[]): PlantedBugsArguments | null {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS });
  if (values.help) return null;
  const bugsNamed = (text: string) => matching(PLANTED_BUGS, text, nameOf);
  const bugs = [...new Set((values.only ?? [""]).flatMap(bugsNamed))];
  return {
    bugs,
    sessions: wholeNumber("sessions", values.sessions, 1) ?? 150,
    jobs: wholeNumber("jobs", values.jobs, 1) ?? availableParallelism(),
    isRecorded: values.record,
  };
}
