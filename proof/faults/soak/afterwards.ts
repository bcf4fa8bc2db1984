import type { FaultyService } from "../faulty-service";
import { keepStorage } from "../runs/evidence";
import { DISK, keysOnDisk } from "../runs/left-on-disk";
import { BOOKS, unsettled } from "../runs/tenant-books";
import type { BooksLog } from "./books-log";
import { nowhere } from "./crew";
import type { SoakFailure } from "./figures";

type Options = {
  service: Pick<FaultyService, "kill" | "storage">;
  books: Pick<BooksLog, "added" | "all">;
  seed: number;
  /** Repeats the soak. */
  command: string;
};
type Found = Pick<SoakFailure, "name" | "problems">;

/**
 * Ends the service and checks everything that it wrote, which is kept if something is wrong. Never
 * throws: a failed check is a failure too, and must not lose the figures of hours.
 */
export async function lookedAtWhole({
  service,
  books,
  seed,
  command,
}: Options): Promise<SoakFailure[]> {
  const failures = (await wrongWith(service, books)).filter(({ problems }) => problems.length > 0);
  if (failures.length === 0) return [];
  const all = failures.flatMap(({ problems }) => problems);
  const kept = keepStorage(all, { storage: service.storage, seed, command });
  const folder = await kept.then((where) => where.folder, nowhere);
  return failures.map((failure) => ({ ...failure, command, folder }));
}

async function wrongWith(service: Options["service"], books: Options["books"]): Promise<Found[]> {
  const alive = await orWhyNot(service.kill().then(() => []));
  // A running service still writes, so its files cannot be checked.
  if (alive.length > 0) return [{ name: "the end of the service", problems: alive }];
  if (books.added === 0) return [];
  const { storage } = service;
  // Keys first: reading a database merges its write-ahead log into it.
  const disk = { name: DISK, problems: await orWhyNot(keysOnDisk(storage)) };
  const settled = books.all().then((played) => unsettled(storage, played));
  return [disk, { name: BOOKS, problems: await orWhyNot(settled) }];
}

const orWhyNot = (look: Promise<string[]>): Promise<string[]> =>
  look.catch((error: unknown) => [String(error)]);
