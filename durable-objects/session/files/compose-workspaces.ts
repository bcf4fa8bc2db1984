import { type FileBucket, SessionFiles, type SessionPlace } from "../../../r2-layout/session-files";
import type { Team } from "../../../src/config/team";
import type { ContextPins } from "../../../src/uploads/context-index";
import type { ContextReader } from "../../../src/uploads/context-reader";
import { logError } from "../../../src/redaction/log";
import { BlobStore } from "./blob-store";
import { StorageQueue } from "./storage-queue";
import { countedObjects } from "./counted-objects";
import { ContextChanges } from "./context-changes";
import { type FileJob, FileJobs, type ReleasePins } from "./file-jobs";
import { Outbox } from "../log/outbox";
import type { ObjectStorage } from "../object-storage";
import { RoundChanges } from "./round-changes";
import type { SessionLog } from "../log/session-log";
import { SessionContexts } from "./session-contexts";
import { type TurnEnds, SnapshotStore } from "./snapshot-store";
import { Workspaces } from "./workspaces";

type Storage = Pick<ObjectStorage, "sql" | "transactionSync">;
/**
 * `storageQueue`: the queue for everything in the session that reads R2; omitted if nothing else
 * does.
 * `stored`: called when the session's stored bytes may have changed.
 */
type Places = {
  storage: Storage;
  bucket: FileBucket;
  place: SessionPlace;
  pins: Pick<ContextPins, "release">;
  storageQueue?: StorageQueue;
  stored?: () => Promise<void>;
};
type Turns = TurnEnds & {
  latest: () => { turn: number; isRunning: boolean } | null;
};

/** The stores of a session's files, over its tables and its prefix in R2. */
export function fileStores(
  { storage, bucket, place, pins, storageQueue = new StorageQueue(), stored }: Places,
  { latest, ...ends }: Turns,
) {
  const { sql } = storage;
  const objects = countedObjects(new SessionFiles(bucket, place), sql);
  const blobs = new BlobStore({ sql, objects, storageQueue });
  const snapshots = new SnapshotStore(sql, ends);
  const contextChanges = new ContextChanges(sql);
  const outbox = new Outbox<FileJob>(sql, "file_duties");
  const transaction = (work: () => void) => storage.transactionSync(work);
  const release: ReleasePins = (turn, kept) => pins.release({ ...place, turn }, kept);
  const stores = { blobs, snapshots, contextChanges, objects, storageQueue, outbox };
  const jobs = new FileJobs({
    ...stores,
    transaction,
    latestTurn: latest,
    release,
    now: () => Date.now(),
    session: place.session,
    ...(stored && { stored }),
    completedWith: ends.completedWith,
  });
  return { storageQueue, blobs, snapshots, contextChanges, outbox, jobs };
}

type Options = Omit<Places, "pins"> & {
  log: SessionLog;
  team: Team;
  contexts: { reader: ContextReader; pins: Pick<ContextPins, "release"> };
};

/** The workspaces of a session's agents. */
export function sessionWorkspaces({
  log,
  team,
  contexts,
  stored = async () => undefined,
  ...places
}: Options): Workspaces {
  // The end of the turn reports the bytes again and must succeed then. Here a failed report must
  // not stop file jobs.
  const reported = () =>
    stored().catch((error: unknown) => logError("stored bytes were not reported", error));
  const { storageQueue, ...stores } = fileStores(
    { ...places, pins: contexts.pins, stored: reported },
    {
      parentOf: (turn) => log.turn(turn)?.parent ?? null,
      completedWith: (turn) => log.completedWith(turn),
      latest: () => log.latest(),
    },
  );
  return new Workspaces({
    ...stores,
    changes: new RoundChanges(places.storage.sql),
    contexts: new SessionContexts({
      reader: contexts.reader,
      tenant: places.place.tenant,
      storageQueue,
    }),
    settingsOf: (agent) => team.agents[agent]?.workspace,
    close: () => storageQueue.close(),
  });
}
