import type { Ask, Burst, History, Operation } from "./operations";
import { linesOf } from "./operations";
import { NOTHING, play, type PlayResult } from "./play";
import { randomHistory } from "./random-history";
import type { World } from "./world";

export type Figures = Omit<PlayResult, "problem"> & {
  histories: number;
  /** The smallest failing history of each failed seed, as text. */
  failures: string[];
};

type Campaign = {
  seeds: readonly number[];
  /** Steps of each history. */
  length: number;
  /** Creates the world of a history. Each history needs a new one. */
  newWorld: () => Promise<World>;
  /** Histories that may be played to shrink a failure. */
  tries: number;
};

const COUNTED = [
  ...(["turns", "branches", "moves", "diffs", "kills"] as const),
  ...(["queued", "interrupts", "repeats", "compacts", "summaries", "cuts"] as const),
];

/** Failures after which a campaign ends: shrinking takes long, and they often have one cause. */
const MOST_FAILURES = 3;

/** Plays a history in a new world. */
export async function playIn(
  newWorld: () => Promise<World>,
  history: History,
): Promise<PlayResult> {
  const world = await newWorld();
  try {
    return await play(history, world);
  } finally {
    await world.close();
  }
}

/** Plays a random history per seed. Shrinks the failing histories. */
export async function playSeeds({ seeds, length, newWorld, tries }: Campaign): Promise<Figures> {
  const total = { histories: 0, ...NOTHING };
  const failures: string[] = [];
  for (const seed of seeds) {
    if (failures.length >= MOST_FAILURES) break;
    const history = randomHistory(seed, length);
    const { problem, ...counts } = await playIn(newWorld, history);
    total.histories += 1;
    for (const name of COUNTED) total[name] += counts[name];
    if (problem)
      failures.push(`seed ${seed}\n${await reportOf(history, problem, { newWorld, tries })}`);
  }
  return { ...total, failures };
}

/**
 * The smallest history that fails like this one, and how it fails. After a kill, a failure may
 * depend on its moment: then the history is not smaller, and the failure is that of its first play.
 */
async function reportOf(
  history: History,
  found: NonNullable<PlayResult["problem"]>,
  { newWorld, tries }: Pick<Campaign, "newWorld" | "tries">,
): Promise<string> {
  // Without numbers, because a shorter history has the same problem in another turn.
  const kindOf = (text: string) => text.split(":")[0]?.replace(/turn[_ ]\d+/g, "turn");
  let problem = found;
  const fails = async (candidate: History): Promise<boolean> => {
    const played = (await playIn(newWorld, candidate)).problem;
    if (played === null || kindOf(played.text) !== kindOf(found.text)) return false;
    problem = played;
    return true;
  };
  const smallest = await shrink(history.slice(0, found.step), fails, tries);
  return [
    ...linesOf(smallest.slice(0, problem.step)),
    `step ${problem.step}: ${problem.text}`,
  ].join("\n");
}

/**
 * Removes steps, and parts of turns, as long as the history still fails. At most `tries` histories
 * are played.
 */
export async function shrink(
  history: History,
  fails: (history: History) => Promise<boolean>,
  tries: number,
): Promise<History> {
  let [smallest, left] = [history, tries];
  const attempt = async (candidate: History): Promise<void> => {
    if (left <= 0) return;
    left -= 1;
    if (await fails(candidate)) smallest = candidate;
  };
  for (let size = Math.ceil(smallest.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let at = smallest.length - size; at >= 0; at -= size)
      await attempt(smallest.toSpliced(at, size));
  for (let at = smallest.length - 1; at >= 0; at -= 1)
    for (const simpler of simplerOf(smallest[at]))
      await attempt(smallest.toSpliced(at, 1, ...simpler));
  return smallest;
}

/** The step with one part less; or the questions of a burst, each as a step. */
function simplerOf(operation: Operation | undefined): Operation[][] {
  if (operation?.type === "burst") return simplerBursts(operation);
  if (operation?.type === "compact" && operation.killAfterMs !== null)
    return [[{ ...operation, killAfterMs: null }]];
  if (operation?.type !== "ask") return [];
  const changes: Partial<Ask>[] = [
    { killAfterMs: null },
    { team: null },
    { rejected: null },
    { ends: "completed" },
    { back: null },
    { refusesSummary: false },
    { length: 0 },
    ...(["reads", "answer", "final"] as const).map((name) => ({ [name]: [] })),
  ];
  const unlike = (change: Partial<Ask>): boolean =>
    JSON.stringify({ ...operation, ...change }) !== JSON.stringify(operation);
  return changes.filter(unlike).map((change) => [{ ...operation, ...change }]);
}

function simplerBursts(burst: Burst): Operation[][] {
  const { first, queued, removed, interrupt } = burst;
  const asks = [first, ...(interrupt ? [interrupt] : []), ...queued];
  return [
    ...asks.map((ask) => [ask]),
    asks,
    ...(interrupt ? [[{ ...burst, interrupt: null }]] : []),
    ...(removed === null ? [] : [[{ ...burst, removed: null }]]),
    ...(queued.length > 1 ? [[{ ...burst, queued: queued.slice(0, -1), removed: null }]] : []),
  ];
}

/** Seeds from `first`, or from the variable `HISTORY_SEED` to repeat a failure. */
export function seedsFrom(first: number, count: number): number[] {
  const start = Number(process.env["HISTORY_SEED"] ?? first);
  return Array.from({ length: count }, (_, index) => start + index);
}
