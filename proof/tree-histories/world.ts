import type { Diff } from "../../src/protocol/api/diff";
import type { Ask, Team } from "./operations";
import type { Files, Status, Summary, Turn } from "./state";

/** How much of the earlier turns the agents of a turn read. */
export type ShownHistory = {
  /** The last turn that they read only as part of a summary; `null` without a summary. */
  through: number | null;
  /** Whether texts were cut because a summary failed. */
  isCut: boolean;
  /** The summaries that the turn wrote. */
  written: readonly Summary[];
};

/** A request for a turn. Each field that is omitted is left to the service. */
export type AskRequest = { question: string; parent?: number; team?: Team };

/**
 * What happens to a turn after its start. `interrupt`: the request that cancels the turn, in place
 * of a cancel; only for a turn that ends so. `kind`: omitted for a question.
 */
export type TurnCourse = Pick<Ask, "ends" | "killAfterMs"> & {
  interrupt?: AskRequest;
  kind?: "compact";
};

/**
 * A turn that has ended. `partial`: the text so far of a cancelled turn, else `null`. `hashes`: of
 * the files of its result by path; `null` without a result. `changes`: of the files of the context
 * that differ from the user's version; `null` without a result.
 */
export type AskedTurn = {
  number: number;
  parent: number | null;
  status: Status | "running";
  answer: string | null;
  partial: string | null;
  hashes: ReadonlyMap<string, string> | null;
  changes: ReadonlyMap<string, string | null> | null;
  /** The code that refused a move of the head during the turn; `null` if none was tried. */
  moveDuringTurn: string | null;
  /** The id of the request that interrupted the turn; `null` if none did. */
  interrupting: string | null;
  history: ShownHistory;
};

/** An answer or a final text of an attempt, and the hashes of its files by path. */
export type ShownAnswer = { text: string; hashes: ReadonlyMap<string, string> };
export type AnswerPlace = { turn: number; attempt: number; label: string };

/** The tree of the session, as the service returns it. Only a turn of kind `question` has one. */
export type ShownTree = {
  head: number | null;
  turns: readonly { number: number; parent: number | null; status: string; kind: Turn["kind"] }[];
};

/** What a history is played in: the service, or a model of a wrong service in tests. */
export type World = {
  /** The name of the context. */
  readonly context: string;
  /** Starts a turn. Returns its number. */
  start(request: AskRequest): Promise<number>;
  /** Starts a turn that asks the question of a turn again. Returns its number. */
  repeat(turn: number): Promise<number>;
  /**
   * Starts a turn that summarises the conversation until the head. Returns its number, or the code
   * of the refusal.
   */
  compact(): Promise<number | string>;
  /** Sends a request with `on_busy: queue`. Returns an id of the request. */
  send(request: AskRequest): Promise<string>;
  /** Removes a request from the queue. Returns whether it was there. */
  remove(id: string): Promise<boolean>;
  /** Waits for the turn of a sent request. If the queue is held, resumes it. Returns its number. */
  turnOfSent(id: string): Promise<number>;
  /** The ids of the requests in the queue, in the order in which they will start. */
  queue(): Promise<readonly string[]>;
  /** Kills the service or cancels the turn if its course says so, and waits for the turn's end. */
  finish(turn: number, course: TurnCourse): Promise<AskedTurn>;
  answer(place: AnswerPlace): Promise<ShownAnswer>;
  /** Moves the head. Returns it, or the code of the refusal. */
  move(turn: number): Promise<number | string>;
  /** Pushes these files as the newest version of the context. */
  push(files: Files): Promise<void>;
  kill(): Promise<void>;
  tree(): Promise<ShownTree>;
  /** `from`, `to`: references of points. */
  diff(from: string, to: string): Promise<Diff>;
  close(): Promise<void>;
};
