import { appendFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { nothingMatches, UsageError, wholeNumber } from "../../local/command-line";
import { type Description, DESCRIPTIONS } from "./descriptions";

/** Ignored by git. */
const JSON_FILE = "node_modules/.cache/massgen-edge/bench.json";

export const USAGE = `npm run bench -- [--only NAME,NAME] [--seed S] [--trials N] [--small]
                 [--json FILE] [--record]

Measures the service's own cost in time, CPU and rows, with simulated models.
Linux only. All figures take about 17 minutes on two idle cores.

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
 * `wanted`: the chosen measurements. `trials`: `null` for each figure's default. `json`: the file
 * of the results, as typed.
 */
export type BenchArguments = {
  wanted: readonly string[];
  seed: number;
  trials: number | null;
  isSmall: boolean;
  isRecorded: boolean;
  json: string;
};

/** `null` for `--help`. Throws `UsageError`, or Node's own error, for invalid arguments. */
export function parseBenchArguments(argv: readonly string[]): BenchArguments | null {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS });
  if (values.help) return null;
  const wanted = chosen(values.only);
  const trials = wholeNumber("trials", values.trials, 1);
  if (trials !== null && wanted.every((one) => one.trials === undefined)) {
    const trying = DESCRIPTIONS.filter((one) => one.trials !== undefined);
    throw new UsageError(`--trials goes with one of ${trying.map(({ name }) => name).join(", ")}.`);
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
 * The absolute path of `--json`. Tested before the measurements, so that minutes of work are not
 * lost at the end. Throws `UsageError`.
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
function chosen(only: readonly string[] | undefined): readonly Description[] {
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

function tableOfAll(): string {
  const width = Math.max(...DESCRIPTIONS.map(({ name }) => name.length));
  const lineOf = ({ name, about, trials }: Description) =>
    `  ${name.padEnd(width)}  ${about}${trials === undefined ? "" : ` (--trials: ${trials})`}`;
  return DESCRIPTIONS.map(lineOf).join("\n");
}
