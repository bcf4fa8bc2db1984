import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { UsageError, wholeNumber } from "../../../local/command-line";
import type { Range } from "./worker";

export const USAGE = `npm run simulate -- [--seeds N] [--from S]

  --seeds N        number of sessions, one per seed (1000)
  --from S         first seed (1)
  --seed X         play only this seed and print its history
  --jobs N         parallel processes (number of cores)
  --least N        report pairs of a transition and a fault that met less often
                   as thin (a hundredth of the seeds, at most 100)
  --patience S     seconds without progress after which a seed counts as hanging
                   (120)
  --progress FILE  store progress here; the same command continues from this
                   file
  --record         store the figures in docs/proof/data/campaigns.json,
                   for the documents`;

const TEXT = { type: "string" } as const;
const OPTIONS = {
  seeds: TEXT,
  from: TEXT,
  seed: TEXT,
  jobs: TEXT,
  least: TEXT,
  patience: TEXT,
  progress: TEXT,
  record: { type: "boolean" },
  /** Internal: the range that a child process plays. */
  worker: TEXT,
  help: { type: "boolean" },
} as const;

/**
 * Arguments of a run over many seeds. `from`: the first seed. `seeds`: their number. `jobs`: the
 * number of parallel processes. `silentMs`: the time without progress after which a seed counts as
 * hanging. `least`: how often a pair of a transition and a fault must meet; `null` for the default,
 * which depends on `seeds`. `progressFile`: `null` if no progress is stored.
 */
export type SeedsArguments = {
  from: number;
  seeds: number;
  jobs: number;
  silentMs: number;
  least: number | null;
  progressFile: string | null;
  isRecorded: boolean;
};

/** `worker` plays a range in a child process, `seed` one seed, and `seeds` many seeds. */
export type SimulateArguments =
  | { type: "help" }
  | { type: "worker"; range: Range }
  | { type: "seed"; seed: number }
  | ({ type: "seeds" } & SeedsArguments);

/** Throws `UsageError`, or the error of Node's `parseArgs`, for invalid arguments. */
export function parseSimulateArguments(argv: readonly string[]): SimulateArguments {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS });
  if (values.help) return { type: "help" };
  if (values.worker !== undefined) return { type: "worker", range: JSON.parse(values.worker) };
  const seedsArguments: SeedsArguments = {
    seeds: wholeNumber("seeds", values.seeds, 1) ?? 1_000,
    from: wholeNumber("from", values.from) ?? 1,
    jobs: wholeNumber("jobs", values.jobs, 1) ?? availableParallelism(),
    silentMs: (wholeNumber("patience", values.patience, 1) ?? 120) * 1_000,
    least: wholeNumber("least", values.least),
    progressFile: values.progress ?? null,
    isRecorded: values.record ?? false,
  };
  const seed = wholeNumber("seed", values.seed);
  if (seed === null) return { type: "seeds", ...seedsArguments };
  const other = Object.keys(values).find((option) => option !== "seed");
  if (other !== undefined)
    throw new UsageError(`--${other} cannot be combined with --seed, which plays one seed.`);
  return { type: "seed", seed };
}
