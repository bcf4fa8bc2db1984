import type { Bucket } from "../r2-layout/bucket";
import type { Team } from "../src/config/team";
import { BlobStore } from "./blob-store";
import { RoundChanges } from "./round-changes";
import type { SessionLog } from "./session-log";
import { SnapshotStore } from "./snapshot-store";
import { Workspaces } from "./workspaces";

type Options = { sql: SqlStorage; log: SessionLog; bucket: Bucket; tenant: string; session: string; team: Team };

/** A session's files, put together over its tables and its part of R2. */
export function sessionWorkspaces({ sql, log, bucket, tenant, session, team }: Options): Workspaces {
  return new Workspaces({
    blobs: new BlobStore({ sql, bucket, tenant, session }),
    changes: new RoundChanges(sql),
    snapshots: new SnapshotStore(sql, (turn) => log.turn(turn)?.parent ?? null),
    settingsOf: (agent) => team.agents[agent]?.workspace,
  });
}
