import { setTimeout as sleep } from "node:timers/promises";
import { matching } from "../../../local/command-line";
import { FaultyService } from "../faulty-service";
import { startRunServers } from "../runs/run-servers";
import { keepCase, keepStorage } from "../runs/evidence";
import { DISK, keysOnDisk } from "../runs/left-on-disk";
import { LEDGER, SETTLED_WITHIN_MS, toFinishedRuns, ledgerProblems } from "../runs/tenant-ledger";
import { STORAGE_FAULTS } from "./list";
import { playStorageFault, type StorageFault, type StorageFaultOutcome } from "./storage-fault";

export type StorageFaultFigures = {
  seed: number;
  rows: { row: string; faults: number; runs: number; problems: number }[];
  /** Problems, how to repeat each fault, and where its evidence is. */
  failures: StorageFaultFailure[];
  seconds: number;
};

type StorageFaultFailure = {
  name: string;
  problems: readonly string[];
  command: string;
  folder: string;
};

type StorageFaultOptions = {
  seed: number;
  /** How often each fault is played. */
  each: number;
  /** Only the fault of this name, or the faults whose names contain this text. */
  only?: string;
  /** The faults to choose from. Omitted: all. */
  from?: readonly StorageFault[];
  onFault?: (outcome: StorageFaultOutcome) => void;
};

/** More than other faults change the clock, and less than a tenant remembers charged turns. */
const DAY_MS = 86_400_000;

/**
 * Separates the faults that set the clock days ahead from the other faults. The faults with days
 * ahead must be played first: a tenant forgets turns that ended long ago, so a later jump of the
 * clock would make it forget charged turns.
 */
export function byDaysAhead(some: readonly StorageFault[]): {
  ahead: StorageFault[];
  others: StorageFault[];
} {
  const isAhead = ({ from, steps = [] }: StorageFault): boolean =>
    [from, ...steps.map((step) => ("orders" in step ? step.orders : {}))].some(
      (orders) => (orders?.skewMs ?? 0) > DAY_MS,
    );
  return { ahead: some.filter(isAhead), others: some.filter((fault) => !isAhead(fault)) };
}

/**
 * Plays every fault on one service and then checks its ledger. Throws `UsageError` if no fault
 * matches.
 */
export async function playStorageFaults({
  seed,
  each,
  only = "",
  from = STORAGE_FAULTS,
  onFault,
}: StorageFaultOptions): Promise<StorageFaultFigures> {
  const startedAt = performance.now();
  const matchingFaults = matching(from, only, ({ name }) => name);
  const { ahead, others } = byDaysAhead(matchingFaults);
  const providers = await startRunServers();
  const service = await FaultyService.prepare();
  const outcomes: StorageFaultOutcome[] = [];
  const failures: StorageFaultFailure[] = [];
  const playAll = async (some: readonly StorageFault[]) => {
    for (let nth = 0; nth < some.length * each; nth += 1) {
      const fault = some[nth % some.length];
      if (!fault) continue;
      // The seed depends only on the round, so a fault runs the same way alone and among others.
      const roundSeed = seed + Math.floor(nth / some.length);
      const outcome = await playStorageFault(fault, service, providers, roundSeed);
      onFault?.(outcome);
      outcomes.push(outcome);
      if (outcome.problems.length === 0) continue;
      failures.push(await keepFailure(outcome, service));
      await service.restart();
    }
  };
  try {
    await service.start();
    await playAll(ahead);
    await playAll(others);
    await sleep(SETTLED_WITHIN_MS);
    await service.kill();
    failures.push(...(await storageFailures(service, outcomes, seed)));
    return {
      seed,
      rows: rowsOf(outcomes),
      failures,
      seconds: (performance.now() - startedAt) / 1_000,
    };
  } finally {
    await service.stop();
    await providers.close();
  }
}

/** Failures of the ledger over all runs, and of the files on disk. */
async function storageFailures(
  service: FaultyService,
  outcomes: readonly StorageFaultOutcome[],
  seed: number,
): Promise<StorageFaultFailure[]> {
  const { storage } = service;
  const ledger = ledgerProblems(storage, outcomes.map(toFinishedRuns));
  return [
    ...(await keepStorageFailure(LEDGER, ledger, { service, seed })),
    ...(outcomes.length > 0
      ? await keepStorageFailure(DISK, await keysOnDisk(storage), { service, seed })
      : []),
  ];
}

/** Returns one failure if there are problems, and keeps everything that the service wrote. */
async function keepStorageFailure(
  name: string,
  problems: readonly string[],
  { service: { storage }, seed }: { service: FaultyService; seed: number },
): Promise<StorageFaultFailure[]> {
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
async function keepFailure(
  { fault: { name }, seed, problems, runs }: StorageFaultOutcome,
  service: FaultyService,
): Promise<StorageFaultFailure> {
  const command = commandOf(seed, name);
  const folder = await keepCase(
    { name: `fault-${seed}-${name}`, command, problems, runs },
    service,
  );
  return { name, problems, command, folder };
}

/** The command that repeats a round, or one fault of it. */
export const commandOf = (seed: number, name?: string): string =>
  `npm run faults -- --storage --seed ${seed}${name === undefined ? "" : ` --only ${JSON.stringify(name)}`}`;

function rowsOf(outcomes: readonly StorageFaultOutcome[]): StorageFaultFigures["rows"] {
  return [...Map.groupBy(outcomes, ({ fault }) => fault.row)].map(([row, some]) => ({
    row,
    faults: some.length,
    runs: some.reduce((sum, { runs }) => sum + runs.length, 0),
    problems: some.filter(({ problems }) => problems.length > 0).length,
  }));
}
