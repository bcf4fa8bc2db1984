import { CommandLineWorld, type HistoryService } from "./command-line-world";
import { type History, linesOf } from "./operations";
import { play, type PlayResult } from "./play";
import { randomHistory } from "./random-history";
import { shrink } from "./shrink";
import type { Files } from "./paths";

/** Creates the service in which a history is played. Each history needs a new one. */
export type ServiceOf = (history: History) => Promise<HistoryService>;

/** Plays a history by the command line. `files`: those of the first folder at the end. */
export async function playByCommandLine(
  history: History,
  serviceOf: ServiceOf,
): Promise<PlayResult & { files: Files }> {
  const world = await CommandLineWorld.create(history, await serviceOf(history));
  try {
    const played = await play(history, world);
    return { ...played, files: await world.files(0) };
  } finally {
    await world.close();
  }
}

export type Figures = Pick<PlayResult, "turns" | "pulls" | "pushes" | "conflicts"> & {
  histories: number;
  /** Histories of which the model left the end undecided. */
  open: number;
  /** The smallest failing history of each failed seed, as text. */
  failures: string[];
};

type Campaign = {
  seeds: readonly number[];
  isNormal: boolean;
  /** Steps of each history. */
  length: number;
  serviceOf: ServiceOf;
  /** Histories that may be played to shrink a failure. */
  tries: number;
};

/** Failures after which a campaign ends: shrinking takes long, and they often have one cause. */
const MOST_FAILURES = 3;

/** Plays a random history per seed. Shrinks the failing histories. */
export async function playSeeds({
  seeds,
  serviceOf,
  tries,
  ...options
}: Campaign): Promise<Figures> {
  const total = { histories: 0, open: 0, turns: 0, pulls: 0, pushes: 0, conflicts: 0 };
  const failures: string[] = [];
  for (const seed of seeds) {
    if (failures.length >= MOST_FAILURES) break;
    const history = randomHistory(seed, options);
    const { problem, isOpen, ...counts } = await playByCommandLine(history, serviceOf);
    total.histories += 1;
    total.open += Number(isOpen);
    for (const name of ["turns", "pulls", "pushes", "conflicts"] as const)
      total[name] += counts[name];
    if (problem) failures.push(`seed ${seed}\n${await reportOf(history, serviceOf, tries)}`);
  }
  return { ...total, failures };
}

/** The smallest history that fails like this one, and how it fails. */
async function reportOf(history: History, serviceOf: ServiceOf, tries: number): Promise<string> {
  const problemOf = async (candidate: History) =>
    (await playByCommandLine(candidate, serviceOf)).problem;
  const kindOf = (text: string | undefined) => text?.split(":")[0];
  const kind = kindOf((await problemOf(history))?.text);
  const smallest = await shrink(
    history,
    async (candidate) => kindOf((await problemOf(candidate))?.text) === kind,
    tries,
  );
  const problem = await problemOf(smallest);
  return [...linesOf(smallest), `step ${problem?.step}: ${problem?.text}`].join("\n");
}

/** Seeds from `first`, or from the variable `HISTORY_SEED` to repeat a failure. */
export function seedsFrom(first: number, count: number): number[] {
  const start = Number(process.env["HISTORY_SEED"] ?? first);
  return Array.from({ length: count }, (_, index) => start + index);
}
