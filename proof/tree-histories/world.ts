import type { Diff } from "../../src/protocol/api/diff";
import type { Ask } from "./operations";
import type { Files, Status } from "./state";

/** A request for a turn. `parent`: the turn that it names; `null` if it names none. */
export type AskRequest = { question: string; parent: number | null };

/** What happens to a turn after its start. */
export type TurnCourse = Pick<Ask, "ends" | "killAfterMs">;

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
};

/** An answer or a final text of an attempt, and the hashes of its files by path. */
export type ShownAnswer = { text: string; hashes: ReadonlyMap<string, string> };
export type AnswerPlace = { turn: number; attempt: number; label: string };

/** The tree of the session, as the service returns it. */
export type ShownTree = {
  head: number | null;
  turns: readonly { number: number; parent: number | null; status: string }[];
};

/** What a history is played in: the service, or a model of a wrong service in tests. */
export type World = {
  /** The name of the context. */
  readonly context: string;
  /** Starts a turn. Returns its number. */
  start(request: AskRequest): Promise<number>;
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
