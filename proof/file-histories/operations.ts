import type { TeamEdit } from "./predict-ask";

/** `isKilled`: the command is killed after it wrote the files, and before it notes the pull. */
type PullParts = { skipsConflicts?: true; included?: string; isKilled?: true };

/**
 * One step of a history. Numbers of folders and sessions are indexes of the set-up. `back` counts
 * turns from the latest one: 0 is the latest. So a history stays playable if steps are removed.
 */
export type Operation =
  | { type: "edit"; folder: number; path: string; contents: string | null }
  /** Sets the exclusion rules that only this folder has, in `.git/info/exclude`. */
  | { type: "exclude"; folder: number; rules: string | null }
  /** `isKilled`: the command is killed after the service has stored its version. */
  | { type: "push"; folder: number; included?: string; isKilled?: true }
  | ({ type: "pull"; folder: number; session: number; back: number } & PullParts)
  | ({ type: "pull version"; folder: number } & PullParts)
  | {
      type: "ask";
      session: number;
      back: number;
      edits: readonly TeamEdit[];
      /**
       * How the turn ends. `killed`: the service is killed while the turn runs, and
       * recovers it.
       */
      ends: "completed" | "failed" | "killed";
      wins?: "turn" | "upload";
      /** The contexts that the turn uses. Omitted: all contexts of the session. */
      uses?: readonly string[];
    }
  | { type: "kill" };

/**
 * `folders`: the context of each folder. `sessions`: the contexts of each session. `isNormal`:
 * each side changes a file only if it has received all changes of the other side, so no conflict
 * may be reported. Steps that break this rule are left out when the history is played.
 */
export type History = {
  folders: readonly string[];
  sessions: readonly (readonly string[])[];
  isNormal: boolean;
  operations: readonly Operation[];
};

/** A step as one line. */
export function lineOf(operation: Operation): string {
  const { type, ...details } = operation;
  const texts = Object.entries(details).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [type, ...texts].join(" ");
}

/** A history as the lines of a report. */
export const linesOf = ({ folders, sessions, isNormal, operations }: History): string[] => [
  `folders of ${folders.join(", ")}; sessions with ${sessions.map((names) => names.join("+")).join(", ")}${isNormal ? "; normal use" : ""}`,
  ...operations.map((operation, index) => `${index + 1}. ${lineOf(operation)}`),
];
