import type { TeamEdit } from "./predict-ask";
import type { Files } from "./paths";

/** Folders are numbered as in the set-up of a history; sessions too. */
export type PushOutcome = { status: "committed" | "unchanged" | "refused" | "empty" };
/** `refused`: nothing to pull. `stopped`: conflicts, and nothing was written. */
export type PullOutcome = {
  outcome: "refused" | "stopped" | "pulled";
  conflicts: readonly string[];
};
/** `ends`: the state of each context at the end of the turn; `null` if the world cannot see it. */
export type AskOutcome =
  | { outcome: "missing" }
  | { outcome: "refused"; conflicts: ReadonlyMap<string, readonly string[]> }
  | { outcome: "started"; ends: ReadonlyMap<string, Files> | null };

export type Ask = {
  session: number;
  /** 0 for the first turn. */
  parent: number;
  edits: readonly TeamEdit[];
  ends: "completed" | "failed" | "killed";
  wins?: "turn" | "upload" | undefined;
  /** The contexts that the turn uses. Omitted: all contexts of the session. */
  uses?: readonly string[] | undefined;
};

/** What a history is played in: the command line with a service, or the model of a wrong one. */
export type World = {
  write(folder: number, path: string, contents: string | null): Promise<void>;
  /** `isKilled`: the command is killed after the push. A world may push without a kill instead. */
  push(folder: number, options: { included?: string; isKilled?: boolean }): Promise<PushOutcome>;
  /**
   * `turn`: `null` pulls the newest version of the context. `isKilled`: the command is killed after
   * it wrote the files, and before it notes this. A world may pull without a kill instead.
   */
  pull(
    folder: number,
    options: {
      turn: { session: number; number: number } | null;
      skipsConflicts?: boolean;
      included?: string;
      isKilled?: boolean;
    },
  ): Promise<PullOutcome>;
  ask(ask: Ask): Promise<AskOutcome>;
  /** Kills the service and starts it again. */
  kill(): Promise<void>;
  /** The files on the disk, without the note. */
  files(folder: number): Promise<Files>;
  /** The files of the newest version of a context; `null` if it has none. */
  newest(context: string): Promise<Files | null>;
  close(): Promise<void>;
};
