import type { NumberedEvent } from "../../../checker";
import { type LogRow, toFrame } from "../../../durable-objects/session/streams/frames";
import type { StoredSnapshots } from "../../../simulated/stored-snapshots";
import type { SessionState } from "../../../src/coordination";
import type { Client } from "./clients";
import type { StoredState } from "./expected-contexts";
import type { ProjectStart } from "./project-user";
import type { Faults } from "./faults";
import type { Platform } from "./platform";
import { type SessionSetup, type EngineSituation, SESSION } from "./engine-situation";
import type { TeamUser } from "./team-user";
import type { QueueUser } from "./queue-user";
import type { TreeUser } from "./tree-user";
import type { User } from "./user";

/** The complete record of a finished run. The checks of invariants read nothing else. */
export type RunRecord = {
  situation: EngineSituation;
  setup: SessionSetup;
  log: readonly NumberedEvent[];
  rows: readonly LogRow[];
  clients: readonly Client[];
  platform: Platform;
  faults: Faults;
  /** Turns whose start was confirmed to the user. */
  acknowledged: readonly number[];
  cancels: User["cancels"];
  /** When the user first requested each turn. */
  requestedAt: User["requestedAt"];
  /** The user's moves of the head; `null` if the session has no branches. */
  tree: TreeUser | null;
  /** The user's teams; `null` if all turns ask the same team. */
  teams: TeamUser | null;
  /** The user of the queue; `null` if the session has no queue. */
  queue: QueueUser | null;
  /** Requests that started a turn, by their own id or their id in the queue. */
  directStarts: ReadonlySet<string>;
  /** Head of the log at each cancel request, confirmed or not. */
  cancelsAsked: readonly number[];
  /** Differences between the state in memory and the fold of the log, found at checkpoints. */
  folds: readonly string[];
  /** Why the run did not end; `null` if it ended. */
  stuck: string | null;
  /** The snapshots in R2, and their problems. */
  stored: StoredSnapshots;
  /**
   * The files of every answer and final text that the API would return, by
   * `{turn}/{attempt}/{label}`.
   */
  frozen: StoredSnapshots["trees"];
  /** How the user started the turns of a project. */
  projectStarts: readonly ProjectStart[];
  /**
   * The state of a project's context at the end of each turn. A file whose contents are not stored
   * has the text `missing`.
   */
  contexts: ReadonlyMap<number, StoredState>;
  /** The state in memory at the end; `null` if no process is running. */
  state: SessionState | null;
  /** Rows of unfinished work at the end: settlements, file jobs, and resume points of calls. */
  left: { outbox: number; duties: number; points: number };
  steps: number;
  /** Each time at which the log grew, with its new head. */
  grew: readonly { at: number; head: number }[];
  startedAt: number;
  endedAt: number;
};

/** The exact frames that a client with this subscription must receive. */
export function framesFor(
  rows: readonly LogRow[],
  { turn, deltas }: Client["subscription"],
): string {
  return rows
    .filter(
      (row) => (turn === null || row.turn === turn) && (deltas || row.type !== "stream.delta"),
    )
    .map((row) => toFrame(row, SESSION))
    .join("");
}
