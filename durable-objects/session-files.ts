import type { Bucket } from "../r2-layout/bucket";
import { SessionFiles, type SessionPlace } from "../r2-layout/session-files";
import type { Team } from "../src/config/team";
import type { ContextReader } from "../src/contexts/context-reader";
import { BlobStore } from "./blob-store";
import { BucketTurns } from "./bucket-turns";
import { ContextChanges } from "./context-changes";
import { type FileDuty, FileDuties } from "./file-duties";
import { Outbox } from "./outbox";
import { RoundChanges } from "./round-changes";
import type { SessionLog } from "./session-log";
import { SessionContexts } from "./session-contexts";
import { type Ends, SnapshotStore } from "./snapshot-store";
import { Workspaces } from "./workspaces";

type Storage = Pick<DurableObjectStorage, "sql" | "transactionSync">;
/** `turns`: shared with whatever else of the session reads R2; absent: nothing else does. */
type Places = { storage: Storage; bucket: Bucket; place: SessionPlace; turns?: BucketTurns };
type Turns = Ends & {
  latest: () => { turn: number; isRunning: boolean } | null;
};

/** Where a session's files lie: over its tables and its part of R2. */
export function fileStores({ storage, bucket, place, turns = new BucketTurns() }: Places, { latest, ...ends }: Turns) {
  const { sql } = storage;
  const objects = new SessionFiles(bucket, place);
  const blobs = new BlobStore({ sql, objects, turns });
  const snapshots = new SnapshotStore(sql, ends);
  const contextChanges = new ContextChanges(sql);
  const outbox = new Outbox<FileDuty>(sql, "file_duties");
  const transaction = (work: () => void) => storage.transactionSync(work);
  const duties = new FileDuties({
    blobs,
    snapshots,
    contextChanges,
    objects,
    turns,
    outbox,
    transaction,
    latestTurn: latest,
    completedWith: ends.completedWith,
  });
  return { turns, blobs, snapshots, contextChanges, outbox, duties };
}

type Options = Places & { log: SessionLog; team: Team; contexts: ContextReader };

/** A session's files, as its agents work on them. */
export function sessionWorkspaces({ log, team, contexts, ...places }: Options): Workspaces {
  const { turns, ...stores } = fileStores(places, {
    parentOf: (turn) => log.turn(turn)?.parent ?? null,
    completedWith: (turn) => log.completedWith(turn),
    latest: () => log.latest(),
  });
  return new Workspaces({
    ...stores,
    changes: new RoundChanges(places.storage.sql),
    contexts: new SessionContexts({ reader: contexts, tenant: places.place.tenant, turns }),
    settingsOf: (agent) => team.agents[agent]?.workspace,
    close: () => turns.close(),
  });
}
