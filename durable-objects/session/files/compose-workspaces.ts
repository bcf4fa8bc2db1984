import {
  type FileBucket,
  SessionFiles,
  type SessionObjects,
  type SessionPlace,
} from "../../../r2-layout/session-files";
import type { Team } from "../../../src/config/team";
import { byteLength } from "../../../src/coordination/byte-length";
import type { PinnedContext } from "../../../src/protocol/events";
import type { ContextPins } from "../../../src/uploads/context-index";
import type { ContextReader } from "../../../src/uploads/context-reader";
import { logError } from "../../../src/redaction/log";
import { protectedPathsOf } from "../../../src/workspace/protected-paths";
import { BlobStore } from "./blob-store";
import { StorageQueue } from "./storage-queue";
import { ContextChanges } from "./context-changes";
import { ContextStates } from "./context-states";
import { type FileJob, FileJobs, type ReleasePins } from "./file-jobs";
import { Outbox } from "../log/outbox";
import type { ObjectStorage, Sql } from "../object-storage";
import { RoundChanges } from "./round-changes";
import { type SessionLog, startOfTurn } from "../log/session-log";
import { SessionContexts } from "./session-contexts";
import { type TurnEnds, SnapshotStore } from "./snapshot-store";
import { TurnTrees } from "./turn-trees";
import { Workspaces } from "./workspaces";

type Storage = Pick<ObjectStorage, "sql" | "transactionSync">;
/**
 * `storageQueue`: the queue that all reads of R2 in the session share; omitted if nothing else in
 * the session reads R2. `stored`: called when the session's stored bytes may have changed.
 */
type FileOptions = {
  storage: Storage;
  bucket: FileBucket;
  place: SessionPlace;
  pins: Pick<ContextPins, "release">;
  storageQueue?: StorageQueue;
  stored?: () => Promise<void>;
};
type TurnLookups = TurnEnds & {
  /** The contexts in the `turn.started` of a turn. */
  pinnedIn: (turn: number) => readonly Pick<PinnedContext, "name" | "version">[];
  /** The latest turn; `null` before the first. */
  latest: () => { turn: number; isRunning: boolean } | null;
};

/** The stores of a session's files, over its tables and its prefix in R2. */
export function fileStores(
  { storage, bucket, place, pins, storageQueue = new StorageQueue(), stored }: FileOptions,
  { latest, pinnedIn, ...turnEnds }: TurnLookups,
) {
  const { sql } = storage;
  const objects = countedObjects(new SessionFiles(bucket, place), sql);
  const blobs = new BlobStore({ sql, objects, storageQueue });
  const snapshots = new SnapshotStore(sql, turnEnds);
  const contextChanges = new ContextChanges(sql);
  const { completedWith, parentOf } = turnEnds;
  const lookups = { completedWith, parentOf, pinnedIn };
  const contextStates = new ContextStates(sql, contextChanges, lookups);
  const outbox = new Outbox<FileJob>(sql, "file_duties");
  const transaction = (work: () => void) => storage.transactionSync(work);
  const release: ReleasePins = (turn, keptVersions) =>
    pins.release({ ...place, turn }, keptVersions);
  const contextStores = { contextChanges, contextStates };
  const stores = { blobs, snapshots, ...contextStores, objects, storageQueue, outbox };
  const jobs = new FileJobs({
    ...stores,
    transaction,
    latestTurn: latest,
    release,
    now: () => Date.now(),
    session: place.session,
    ...(stored && { stored }),
    completedWith,
  });
  return { storageQueue, blobs, snapshots, ...contextStores, outbox, jobs };
}

type Options = Omit<FileOptions, "pins"> & {
  log: SessionLog;
  /** The team of the running turn. */
  team: () => Team;
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
  // A failed report must not stop file jobs. The stored bytes are reported again when the turn
  // ends; that report is repeated until it succeeds.
  const reportStored = () =>
    stored().catch((error: unknown) => logError("stored bytes were not reported", error));
  const parentOf = (turn: number) => log.turn(turn)?.parent ?? null;
  const { storageQueue, ...stores } = fileStores(
    { ...places, pins: contexts.pins, stored: reportStored },
    {
      parentOf,
      completedWith: (turn) => log.completedWith(turn),
      pinnedIn: (turn) => pinnedIn(log, turn),
      latest: () => log.latest(),
    },
  );
  const sessionContexts = new SessionContexts({
    reader: contexts.reader,
    tenant: places.place.tenant,
    storageQueue,
  });
  return new Workspaces({
    ...stores,
    changes: new RoundChanges(places.storage.sql),
    contexts: sessionContexts,
    turns: new TurnTrees({ ...stores, contexts: sessionContexts, parentOf }),
    settingsOf: (agent) => team().agents[agent]?.workspace,
    protectedPathsOf: (agent, name) => protectedPathsOf(team(), agent, name),
    close: () => storageQueue.close(),
  });
}

/** The contexts in the `turn.started` of a turn; empty if there is no such turn. */
function pinnedIn(log: SessionLog, turn: number): readonly PinnedContext[] {
  return startOfTurn(log, turn)?.contexts ?? [];
}

/**
 * A session's objects in R2. Each object has a row with its size. The row is written before the
 * object and deleted after the object, so that every object in R2 is counted.
 */
function countedObjects(objects: SessionObjects, sql: Sql): SessionObjects {
  const addSize = (name: string, bytes: number) =>
    sql.exec(
      "INSERT INTO stored_objects (name, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING",
      name,
      bytes,
    );
  return {
    putBlob: (hash, bytes) => {
      addSize(`blobs/${hash}`, bytes.byteLength);
      return objects.putBlob(hash, bytes);
    },
    putPack: (hash, bytes) => {
      addSize(`packs/${hash}`, bytes.byteLength);
      return objects.putPack(hash, bytes);
    },
    putSnapshot: (name, manifest) => {
      addSize(`snapshots/${name}`, byteLength(manifest));
      return objects.putSnapshot(name, manifest);
    },
    putResult: (name, bytes) => {
      addSize(`results/${name}`, bytes.byteLength);
      return objects.putResult(name, bytes);
    },
    hasBlob: (hash) => objects.hasBlob(hash),
    blob: (hash) => objects.blob(hash),
    pack: (hash) => objects.pack(hash),
    packed: (hash, offset, length) => objects.packed(hash, offset, length),
    eraseBlobs: async (hashes) => {
      await objects.eraseBlobs(hashes);
      for (const hash of hashes)
        sql.exec("DELETE FROM stored_objects WHERE name = ?", `blobs/${hash}`);
    },
  };
}
