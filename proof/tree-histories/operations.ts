/**
 * A history of a conversation with branches. Each kind of step has its type here. It is drawn in
 * `random-history.ts`, performed by a world (`world.ts`), and predicted and compared in `play.ts`.
 *
 * Numbers are relative: `back` counts questions from the latest one, and 0 is the latest. Edits
 * that the present files do not allow are left out. So a history stays playable if steps are
 * removed.
 */

/** The workspace, or the context of the session. */
export type Root = "workspace" | "context";

/** `contents` numbers the contents of a file; see `contentsOf`. */
export type Edit =
  | { kind: "write"; root: Root; path: string; contents: number }
  | { kind: "remove"; root: Root; path: string }
  | { kind: "move"; root: Root; path: string; to: string };

/** The same two agents in one or the other order. So their labels have other numbers. */
export type Team = "usual" | "swapped";

export type Ask = {
  type: "ask";
  /** The turn that the request names as parent; `null` leaves the parent to the service. */
  back: number | null;
  /** The team that the request names; `null` leaves it to the service. */
  team: Team | null;
  reads: readonly { root: Root; path: string }[];
  /** Edits of the workspace before the answer. */
  answer: readonly Edit[];
  final: readonly Edit[];
  /** Edits of a presentation that is rejected, so that a second attempt begins; `null` if none. */
  rejected: readonly Edit[] | null;
  /** `cancelled`: in the middle of the final text. Before, the user tries to move the head. */
  ends: "completed" | "failed" | "cancelled";
  /** When the service is killed after the start of the turn; `null` if it is not. */
  killAfterMs: number | null;
  /** Characters of text that only makes the question long. */
  length: number;
  /** Whether models refuse to summarise a history whose last turn is this one. */
  refusesSummary: boolean;
};

/**
 * Questions that are sent before the turn of the first one has ended. They wait in the queue, and
 * each gets its turn when the turns before it have ended. If a turn fails or is cancelled, the user
 * resumes the queue.
 */
export type Burst = {
  type: "burst";
  first: Ask;
  /** Sent with `on_busy: queue`, in this order. */
  queued: readonly Ask[];
  /** The queued question that the user removes while the first turn still stalls; else `null`. */
  removed: number | null;
  /** Sent with `on_busy: interrupt` while the first turn stalls; `null` if none. */
  interrupt: Ask | null;
};

/** Asks the question of a turn again, after the same turn. */
export type Repeat = { type: "repeat"; back: number; killAfterMs: number | null };

/** Summarises the conversation until the head, in a turn of its own. */
export type Compact = { type: "compact"; killAfterMs: number | null };

export type Operation =
  | Ask
  | Burst
  | Repeat
  | Compact
  /** Moves the head. */
  | { type: "move"; back: number }
  /** The user edits a file of the folder and pushes the folder. */
  | { type: "push"; path: string; contents: number | null }
  /** Compares two points: the nth of all points of the session, modulo their number. */
  | { type: "diff"; from: number; to: number }
  /** The same with the parent of the turn as the old point. */
  | { type: "diff parent"; to: number }
  /** Kills the service and starts it again. */
  | { type: "kill" };

export type History = readonly Operation[];

/** A history as the lines of a report. */
export const linesOf = (history: History): string[] =>
  history.map(({ type, ...details }, index) => `${index + 1}. ${type} ${JSON.stringify(details)}`);
