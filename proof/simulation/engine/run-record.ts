import type { NumberedEvent } from "../../../checker";
import { type LogRow, toFrame } from "../../../durable-objects/session/streams/frames";
import type { StoredSnapshots } from "../../../simulated/stored-snapshots";
import type { SessionState } from "../../../src/coordination";
import type { Client } from "./clients";
import type { Faults } from "./faults";
import type { Platform } from "./platform";
import { type Drawn, type EngineSituation, SESSION } from "./situation";
import type { User } from "./user";

/** Everything that is known of a run when nothing is left to happen; invariants look at nothing else. */
export type RunRecord = {
  situation: EngineSituation;
  drawn: Drawn;
  log: readonly NumberedEvent[];
  rows: readonly LogRow[];
  clients: readonly Client[];
  platform: Platform;
  faults: Faults;
  /** Turns whose start was confirmed to the user. */
  acknowledged: readonly number[];
  cancels: User["cancels"];
  /** Where the log ended each time that the user asked to cancel, whether or not it was confirmed. */
  cancelsAsked: readonly number[];
  /** What the checkpoints found. */
  folds: readonly string[];
  /** Why it did not come to an end; null if it did. */
  stuck: string | null;
  /** The snapshots that lie in R2, and what is wrong with them. */
  stored: StoredSnapshots;
  /** The files of every answer and final as the session has them, by name; each as text by path. */
  frozen: StoredSnapshots["trees"];
  state: SessionState | null;
  left: { outbox: number; duties: number; points: number };
  steps: number;
  /** When the log grew, and how far. */
  grew: readonly { at: number; head: number }[];
  startedAt: number;
  endedAt: number;
};

/** The frames that somebody with this wish must have been given, byte for byte. */
export function framesFor(rows: readonly LogRow[], { turn, deltas }: Client["wish"]): string {
  return rows
    .filter(
      (row) => (turn === null || row.turn === turn) && (deltas || row.type !== "stream.delta"),
    )
    .map((row) => toFrame(row, SESSION))
    .join("");
}
