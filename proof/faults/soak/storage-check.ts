import type { FaultyService } from "../faulty-service";
import { keepStorage } from "../runs/evidence";
import { DISK, keysOnDisk } from "../runs/left-on-disk";
import { LEDGER, ledgerProblems } from "../runs/tenant-ledger";
import type { LedgerLog } from "./ledger-log";
import { notKept } from "./session-pool";
import type { SoakFailure } from "./figures";

type Options = {
  service: Pick<FaultyService, "kill" | "storage">;
  ledger: Pick<LedgerLog, "added" | "all">;
  seed: number;
  /** Repeats the soak. */
  command: string;
};
type StorageFinding = Pick<SoakFailure, "name" | "problems">;

/**
 * Ends the service and checks everything that it wrote, which is kept if something is wrong. Never
 * throws: a failed check is a failure too, and must not lose the figures of hours.
 */
export async function checkStorage({
  service,
  ledger,
  seed,
  command,
}: Options): Promise<SoakFailure[]> {
  const failures = (await storageFailures(service, ledger)).filter(
    ({ problems }) => problems.length > 0,
  );
  if (failures.length === 0) return [];
  const all = failures.flatMap(({ problems }) => problems);
  const kept = keepStorage(all, { storage: service.storage, seed, command });
  const folder = await kept.then((where) => where.folder, notKept);
  return failures.map((failure) => ({ ...failure, command, folder }));
}

async function storageFailures(
  service: Options["service"],
  ledger: Options["ledger"],
): Promise<StorageFinding[]> {
  const alive = await problemsOf(service.kill().then(() => []));
  // A running service still writes, so its files cannot be checked.
  if (alive.length > 0) return [{ name: "the end of the service", problems: alive }];
  if (ledger.added === 0) return [];
  const { storage } = service;
  // Keys first: reading a database merges its write-ahead log into it.
  const disk = { name: DISK, problems: await problemsOf(keysOnDisk(storage)) };
  const settled = ledger.all().then((played) => ledgerProblems(storage, played));
  return [disk, { name: LEDGER, problems: await problemsOf(settled) }];
}

const problemsOf = (look: Promise<string[]>): Promise<string[]> =>
  look.catch((error: unknown) => [String(error)]);
