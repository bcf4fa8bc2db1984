import { setTimeout as sleep } from "node:timers/promises";
import { matching } from "../../../local/command-line";
import { FaultyService } from "../faulty-service";
import { startSurroundings } from "../runs/surroundings";
import { keepCase, keepStorage } from "../runs/evidence";
import { DISK, keysOnDisk } from "../runs/left-on-disk";
import { BOOKS, TOLD_WITHIN_MS, toPlayed, unsettled } from "../runs/tenant-books";
import { TROUBLES } from "./list";
import { playTrouble, type Trouble, type Troubled } from "./trouble";

export type TroubleFigures = {
  seed: number;
  rows: { row: string; troubles: number; runs: number; problems: number }[];
  /** What was wrong, how to repeat it, and where what came of it is kept. */
  failures: TroubleFailure[];
  seconds: number;
};

type TroubleFailure = {
  name: string;
  problems: readonly string[];
  command: string;
  folder: string;
};

export type TroublesOptions = {
  seed: number;
  /** How often each of them. */
  each: number;
  /** Only the one of this name, or those whose names contain it. */
  only?: string;
  /** The troubles to choose from; absent: all of them. */
  from?: readonly Trouble[];
  onTrouble?: (troubled: Troubled) => void;
};

/** Longer than any trouble stays, and less than a tenant remembers which turns it was charged for. */
const DAY_MS = 86_400_000;

/**
 * Those that take the clock days ahead, and the others. Played first, the former leave the books whole: a tenant forgets by the time
 * of a turn's end which turns it was charged for long before.
 */
export function byDaysAhead(some: readonly Trouble[]): { ahead: Trouble[]; others: Trouble[] } {
  const isAhead = ({ from, steps = [] }: Trouble): boolean =>
    [from, ...steps.map((step) => ("orders" in step ? step.orders : {}))].some(
      (orders) => (orders?.skewMs ?? 0) > DAY_MS,
    );
  return { ahead: some.filter(isAhead), others: some.filter((trouble) => !isAhead(trouble)) };
}

/** Plays every trouble on one service, and then looks into its books. Throws `UsageError` if there is none as asked for. */
export async function troubles({
  seed,
  each,
  only = "",
  from = TROUBLES,
  onTrouble,
}: TroublesOptions): Promise<TroubleFigures> {
  const startedAt = performance.now();
  const wanted = matching(from, only, ({ name }) => name);
  const { ahead, others } = byDaysAhead(wanted);
  const providers = await startSurroundings();
  const service = await FaultyService.prepare();
  const played: Troubled[] = [];
  const failures: TroubleFailure[] = [];
  const playAll = async (some: readonly Trouble[]) => {
    for (let nth = 0; nth < some.length * each; nth += 1) {
      const trouble = some[nth % some.length];
      if (!trouble) continue;
      // Of its round alone, so that a trouble by itself is what it was among the others.
      const troubled = await playTrouble(
        trouble,
        service,
        providers,
        seed + Math.floor(nth / some.length),
      );
      onTrouble?.(troubled);
      played.push(troubled);
      if (troubled.problems.length === 0) continue;
      failures.push(await kept(troubled, service));
      await service.beginAgain();
    }
  };
  try {
    await service.start();
    await playAll(ahead);
    await playAll(others);
    await sleep(TOLD_WITHIN_MS);
    await service.kill();
    const books = await ofAll(BOOKS, unsettled(service.storage, played.map(toPlayed)), {
      service,
      seed,
    });
    const disk =
      played.length > 0
        ? await ofAll(DISK, await keysOnDisk(service.storage), { service, seed })
        : [];
    failures.push(...books, ...disk);
    return {
      seed,
      rows: rowsOf(played),
      failures,
      seconds: (performance.now() - startedAt) / 1_000,
    };
  } finally {
    await service.stop();
    await providers.close();
  }
}

/** What is wrong with all that the service has written, which is kept then. */
async function ofAll(
  name: string,
  problems: readonly string[],
  { service: { storage }, seed }: { service: FaultyService; seed: number },
): Promise<TroubleFailure[]> {
  if (problems.length === 0) return [];
  return [
    {
      name,
      problems,
      ...(await keepStorage(problems, { storage, seed, command: commandOf(seed) })),
    },
  ];
}

/** Keeps what came of one that failed. */
async function kept(
  { trouble: { name }, seed, problems, runs }: Troubled,
  service: FaultyService,
): Promise<TroubleFailure> {
  const command = commandOf(seed, name);
  const folder = await keepCase(
    { name: `trouble-${seed}-${name}`, command, problems, runs },
    service,
  );
  return { name, problems, command, folder };
}

/** The command that plays all of a round again, or one of it. */
export const commandOf = (seed: number, name?: string): string =>
  `npm run faults -- --storage --seed ${seed}${name === undefined ? "" : ` --only ${JSON.stringify(name)}`}`;

function rowsOf(played: readonly Troubled[]): TroubleFigures["rows"] {
  return [...Map.groupBy(played, ({ trouble }) => trouble.row)].map(([row, some]) => ({
    row,
    troubles: some.length,
    runs: some.reduce((sum, { runs }) => sum + runs.length, 0),
    problems: some.filter(({ problems }) => problems.length > 0).length,
  }));
}
