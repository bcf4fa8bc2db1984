import { appendFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { nothingMatches, UsageError, wholeNumber } from "../../local/command-line";
import { type Description, DESCRIPTIONS } from "./descriptions";

/** The default of `--json`. Git ignores this folder. */
const JSON_FILE = "node_modules/.cache/massgen-edge/bench.json";

export const USAGE = `npm run bench -- [--only NAME,NAME] [--seed S] [--trials N] [--small]
                 [--json FILE] [--record]

Measures the service's own cost in time, CPU and rows, with simulated models.
Linux only. All figures take about 35 minutes on two idle cores.

  --only NAMES  measure only these figures; may be repeated
  --seed S      seed of all random draws (default: the clock)
  --trials N    number of tries of the figures with "--trials" below
  --small       measure in the smallest size, to see that it works;
                the figures mean little
  --json FILE   write all figures as JSON
                (${JSON_FILE})
  --record      store the figures in docs/proof/data/bench.json,
                for the documents

${tableOfAll()}

For example: npm run bench -- --only resume,budget --trials 100 --seed 7`;

const OPTIONS = {
  help: { type: "boolean" },
  json: { type: "string" },
  only: { type: "string", multiple: true },
  record: { type: "boolean", default: false },
  seed: { type: "string" },
  small: { type: "boolean", default: false },
  trials: { type: "string" },
} as const;

/**
 * `wanted`: the names of the chosen measurements. `trials`: the number of tries; `null`
 * for each figure's default. `json`: the path of the file of results, as typed.
 */
export type BenchArguments = {
  wanted: readonly string[];
  seed: number;
  trials: number | null;
  isSmall: boolean;
  isRecorded: boolean;
  json: string;
};

/**
 * Returns `null` for `--help`. Throws `UsageError`, or the error of Node's `parseArgs`, for invalid
 * arguments.
 */
export function parseBenchArguments(argv: readonly string[]): BenchArguments | null {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS });
  if (values.help) return null;
  const wanted = chosenDescriptions(values.only);
  const trials = wholeNumber("trials", values.trials, 1);
  if (trials !== null && wanted.every((one) => one.trials === undefined)) {
    const withTrials = DESCRIPTIONS.filter((one) => one.trials !== undefined);
    const names = withTrials.map(({ name }) => name).join(", ");
    throw new UsageError(`--trials goes with one of ${names}.`);
  }
  if (values.small && values.record)
    throw new UsageError("--record does not go with --small, which measures no figure to keep.");
  return {
    wanted: wanted.map(({ name }) => name),
    seed: wholeNumber("seed", values.seed) ?? Date.now() % 1_000_000,
    trials,
    isSmall: values.small,
    isRecorded: values.record,
    json: values.json ?? JSON_FILE,
  };
}

/**
 * The absolute path of `--json`. Throws `UsageError` if the file cannot be written. The command
 * calls this before it measures, because the measurements take minutes and would be lost.
 */
export async function writableFile(json: string): Promise<string> {
  const file = path.resolve(json);
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await appendFile(file, "");
    return file;
  } catch (error) {
    throw new UsageError(
      `--json ${json} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** All measurements, or the named ones. Throws `UsageError` with the known names. */
function chosenDescriptions(only: readonly string[] | undefined): readonly Description[] {
  const names = (only ?? []).flatMap((list) => list.split(","));
  const unknown = names.find((name) => DESCRIPTIONS.every((one) => one.name !== name));
  if (unknown !== undefined) {
    throw nothingMatches(
      unknown,
      DESCRIPTIONS.map(({ name }) => name),
    );
  }
  return names.length === 0
    ? DESCRIPTIONS
    : DESCRIPTIONS.filter(({ name }) => names.includes(name));
}

/** The help text's table of all measurements. */
function tableOfAll(): string {
  const width = Math.max(...DESCRIPTIONS.map(({ name }) => name.length));
  const lineOf = ({ name, about, trials }: Description) =>
    `  ${name.padEnd(width)}  ${about}${trials === undefined ? "" : ` (--trials: ${trials})`}`;
  return DESCRIPTIONS.map(lineOf).join("\n");
}
