import type { SessionEvent } from "../src/protocol/events";
import type { Board } from "./board";

/**
 * A numbered log entry. Wire events have the same form, so the checker also reads what clients
 * received.
 */
export type NumberedEvent = SessionEvent & { sequence_number: number };

/** A provider's own record of a charge, from outside the log. */
export type LedgerEntry = { at: number; turn: number; call: string; tokens: number; usd: number };

/** A call that reached a tool's server: its key, and the logged call that it belongs to. */
export type ReachedTool = {
  key: string;
  turn: number;
  attempt: number;
  agent: string;
  round: number;
  tool_call: string;
  name: string;
  /** Whether the response or refusal reached the caller; omitted if unknown. */
  answered?: boolean;
};

/**
 * `changed`: a tool of the round wrote, moved or deleted a file. `kept`: number of files that
 * remain if none did. `leftOut`: files of the author's previous answer that are missing but not
 * deleted.
 */
export type Workspace = {
  files: number;
  changed: boolean;
  kept?: number;
  leftOut?: { count: number; paths: readonly string[] };
};

/** Records independent of the log's writer. */
export type Outside = {
  ledger?: readonly LedgerEntry[];
  /** The tool servers' own log, in order. */
  tools?: readonly ReachedTool[];
  /** Sequence numbers at which the process died. */
  diedAfter?: readonly number[];
  /**
   * An agent's workspace at an answer or presentation, by the event's sequence number; `null` if
   * unknown.
   */
  files?: ReadonlyMap<number, Workspace | null>;
  /** Highest sequence number when a confirmed cancel was requested. */
  cancelAskedAfter?: number;
  /** Sequence numbers at which a cancel was requested, confirmed or not; omitted if unknown. */
  cancelsAsked?: readonly number[];
  /** Delays in ms that providers asked for in failed calls, by call; omitted if unknown. */
  waitsAsked?: ReadonlyMap<string, number>;
  /** Whether the session has stopped, so that open calls stay open. */
  finished?: boolean;
};

export type Violation = { invariant: string; sequence_number: number; sentence: string };

/** An event with the board before it. `next` is the following event, deltas excluded. */
export type Moment = { event: NumberedEvent; board: Board; next: NumberedEvent | undefined };

/**
 * Receives each moment in order and returns sentences about violations. Created per log, so it may
 * have state.
 */
export type Watcher = {
  see(moment: Moment): readonly string[];
  /** Called at the end of the log. */
  finish?(board: Board): readonly string[];
};

export type Invariant = { id: string; watch: (outside: Outside) => Watcher };

/** The sentence if the condition is false. */
export const unless = (holds: boolean, sentence: string): string[] => (holds ? [] : [sentence]);
