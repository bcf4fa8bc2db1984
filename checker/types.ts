import type { SessionEvent } from "../src/protocol/events";
import type { Board } from "./board";

/** An event as the log numbers it. Wire events are such events too, so the checker also reads what clients received. */
export type NumberedEvent = SessionEvent & { sequence_number: number };

/** What a provider itself says it charged for one call: a record outside the log. */
export type LedgerEntry = { at: number; turn: number; call: string; tokens: number; usd: number };

/** What reached a tool's server: the key it was given, and which call of the log it was for. */
export type ReachedTool = {
  key: string;
  turn: number;
  attempt: number;
  agent: string;
  round: number;
  tool_call: string;
  name: string;
  /** Whether its answer, or its refusal, reached whoever had called; absent: the server does not know. */
  answered?: boolean;
};

/**
 * `changed`: a tool of the round wrote, moved or deleted a file. `kept`: files that stay where none did. `leftOut`: of the author's
 * answer before, and not deleted.
 */
export type Workspace = {
  files: number;
  changed: boolean;
  kept?: number;
  leftOut?: { count: number; paths: readonly string[] };
};

/** Records the log's writer has no hand in. */
export type Outside = {
  ledger?: readonly LedgerEntry[];
  /** The tool servers' own log, in order. */
  tools?: readonly ReachedTool[];
  /** Where the log ended each time that the process died. */
  diedAfter?: readonly number[];
  /** An agent's workspace when it answered or presented, by the event's number in the log; null: unknown. */
  files?: ReadonlyMap<number, Workspace | null>;
  /** Highest sequence number at the moment the user asked to cancel, of a cancel that was confirmed. */
  cancelAskedAfter?: number;
  /** Where the log ended each time that somebody asked to cancel, confirmed or not; absent: nobody knows who asked when. */
  cancelsAsked?: readonly number[];
  /** How long a provider asked to be left alone when it failed a call, in ms, by call; absent: nobody knows. */
  waitsAsked?: ReadonlyMap<string, number>;
  /** Whether nothing runs any more, so that what is open now stays open for ever. */
  finished?: boolean;
};

export type Violation = { invariant: string; sequence_number: number; sentence: string };

/** One event with the board as it stood before it. `next` is what was logged right after it, deltas left out. */
export type Moment = { event: NumberedEvent; board: Board; next: NumberedEvent | undefined };

/** Looks at each moment in turn and says in a sentence what is wrong. Made anew for each log, so it may remember. */
export type Watcher = {
  see(moment: Moment): readonly string[];
  /** At the end of the log. */
  finish?(board: Board): readonly string[];
};

export type Invariant = { id: string; watch: (outside: Outside) => Watcher };

/** A sentence if the condition does not hold. */
export const unless = (holds: boolean, sentence: string): string[] => (holds ? [] : [sentence]);
