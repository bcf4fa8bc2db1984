import type { SessionEvent } from "../src/protocol/events";
import type { Board } from "./board";

/**
 * A numbered log entry. Events that clients receive have the same form, so the checker can read
 * them too.
 */
export type NumberedEvent = SessionEvent & { sequence_number: number };

/** A provider's own record of a charge. `call` is the logged call. */
export type LedgerEntry = { at: number; turn: number; call: string; tokens: number; usd: number };

/** A tool server's own record of a call: the key of the request, and the logged call. */
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
 * The workspace of an agent at an answer or presentation. `files`: number of its files. `changed`:
 * whether a tool of the round wrote, moved or deleted a file. `kept`: number of files that remain
 * if nothing was changed. `leftOut`: files of the author's previous answer that are missing,
 * although no tool deleted them.
 */
export type Workspace = {
  files: number;
  changed: boolean;
  kept?: number;
  leftOut?: { count: number; paths: readonly string[] };
};

/** Records that others made, independent of the log. All are optional. */
export type Outside = {
  /** The charges of all providers. */
  ledger?: readonly LedgerEntry[];
  /** The tool servers' own log, in order. */
  tools?: readonly ReachedTool[];
  /** For each death of the process, the last sequence number before it. */
  diedAfter?: readonly number[];
  /**
   * An agent's workspace at an answer or presentation, by the event's sequence number; `null` if
   * unknown.
   */
  files?: ReadonlyMap<number, Workspace | null>;
  /** The last sequence number before the request to cancel that was confirmed. */
  cancelAskedAfter?: number;
  /**
   * For each request to cancel, the last sequence number before it, confirmed or not. Omitted if
   * unknown.
   */
  cancelsAsked?: readonly number[];
  /** Delays in ms that providers asked for in failed calls, by call; omitted if unknown. */
  waitsAsked?: ReadonlyMap<string, number>;
  /** Whether the session has stopped. Then its turn must have ended. */
  finished?: boolean;
};

/** `sequence_number`: the event that violates the invariant. */
export type Violation = { invariant: string; sequence_number: number; sentence: string };

/** An event with the board before it. `next` is the following event, deltas excluded. */
export type Moment = { event: NumberedEvent; board: Board; next: NumberedEvent | undefined };

/**
 * Receives each moment in order and returns sentences about violations. A watcher is created for
 * each log, so it may have state.
 */
export type Watcher = {
  see(moment: Moment): readonly string[];
  /** Called at the end of the log. */
  finish?(board: Board): readonly string[];
};

export type Invariant = { id: string; watch: (outside: Outside) => Watcher };

/** Returns the sentence if the condition is false. */
export const unless = (holds: boolean, sentence: string): string[] => (holds ? [] : [sentence]);
