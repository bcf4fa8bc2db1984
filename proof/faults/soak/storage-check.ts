import type { FaultyService } from "../faulty-service";
import { keepStorage } from "../runs/evidence";
import { DISK, keysOnDisk } from "../runs/left-on-disk";
import { LEDGER, ledgerProblems } from "../runs/tenant-ledger";
import type { LedgerLog } from "./ledger-log";
import { noFolder } from "./session-pool";
import type { SoakFailure } from "./figures";

type Options = {
  service: Pick<FaultyService, "kill" | "storage">;
  ledger: Pick<LedgerLog, "added" | "all">;
  seed: number;
  /** The command that repeats the soak. */
  command: string;
};
type StorageFinding = Pick<SoakFailure, "name" | "problems">;

/**
 * Ends the service and checks everything that it wrote. If there are problems, keeps these files.
 * Never throws: an error of a check is returned as a failure, so that the figures of hours are not
 * lost.
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
  const folder = await kept.then((keptIn) => keptIn.folder, noFolder);
  return failures.map((failure) => ({ ...failure, command, folder }));
}

async function storageFailures(
  service: Options["service"],
  ledger: Options["ledger"],
): Promise<StorageFinding[]> {
  const stopProblems = await problemsOf(service.kill().then(() => []));
  // A running service still writes, so its files cannot be checked.
  if (stopProblems.length > 0) return [{ name: "the end of the service", problems: stopProblems }];
  if (ledger.added === 0) return [];
  const { storage } = service;
  // Keys first: reading a database merges its write-ahead log into it.
  const disk = { name: DISK, problems: await problemsOf(keysOnDisk(storage)) };
  const ledgerCheck = ledger.all().then((played) => ledgerProblems(storage, played));
  return [disk, { name: LEDGER, problems: await problemsOf(ledgerCheck) }];
}

const problemsOf = (check: Promise<string[]>): Promise<string[]> =>
  check.catch((error: unknown) => [String(error)]);
