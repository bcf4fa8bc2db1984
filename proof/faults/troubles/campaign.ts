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
  /** Problems, how to repeat each fault, and where its evidence is. */
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
  /** How often each fault is played. */
  each: number;
  /** Only the fault of this name, or the faults whose names contain this text. */
  only?: string;
  /** The faults to choose from. Omitted: all. */
  from?: readonly Trouble[];
  onTrouble?: (troubled: Troubled) => void;
};

/** Longer than any other fault lasts, and less than a tenant remembers charged turns. */
const DAY_MS = 86_400_000;

/**
 * Faults that set the clock days ahead, and the others. The former must come first: a tenant
 * forgets charged turns by the time of their end, so a later jump would corrupt its ledger.
 */
export function byDaysAhead(some: readonly Trouble[]): { ahead: Trouble[]; others: Trouble[] } {
  const isAhead = ({ from, steps = [] }: Trouble): boolean =>
    [from, ...steps.map((step) => ("orders" in step ? step.orders : {}))].some(
      (orders) => (orders?.skewMs ?? 0) > DAY_MS,
    );
  return { ahead: some.filter(isAhead), others: some.filter((trouble) => !isAhead(trouble)) };
}

/**
 * Plays every fault on one service and then checks its ledger. Throws `UsageError` if no fault
 * matches.
 */
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
      // The seed depends on the round only, so a fault played alone equals the one among others.
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

/** Keeps everything that the service wrote if there are problems. */
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

/** Keeps the evidence of a failed fault. */
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

/** The command that repeats a round, or one fault of it. */
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
