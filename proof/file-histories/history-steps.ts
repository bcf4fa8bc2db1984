import type { History, Operation } from "./operations";
import type { Files } from "./paths";
import type { TeamEdit } from "./predict-ask";

/**
 * Histories written by hand, each with the files that a user expects at its end. They are played in
 * the model, and in the same worlds as random histories.
 */
export type WrittenHistory = History & {
  name: string;
  /** The files of the first folder at the end. */
  then: Files;
  /** The number of conflicts that are reported. */
  conflicts: number;
};

export const edit = (path: string, contents: string | null, folder = 0): Operation => ({
  type: "edit",
  folder,
  path,
  contents,
});
/** Rules of `.git/info/exclude`, which only this folder has. */
export const exclude = (rules: string | null, folder = 0): Operation => ({
  type: "exclude",
  folder,
  rules,
});
export const push = (folder = 0): Operation => ({ type: "push", folder });
/** A push whose command is killed before it notes the version. */
export const killedPush = (folder = 0): Operation => ({ type: "push", folder, isKilled: true });
export const pull = (options: Partial<Extract<Operation, { type: "pull" }>> = {}): Operation => ({
  type: "pull",
  folder: 0,
  session: 0,
  back: 0,
  ...options,
});
export const pullVersion = (folder = 0): Operation => ({ type: "pull version", folder });
type AskParts = Partial<Omit<Extract<Operation, { type: "ask" }>, "edits" | "type">>;
/** A turn that writes these files; `null` deletes a file. */
export const ask = (
  files: Readonly<Record<string, string | null>>,
  parts: AskParts = {},
): Operation => ({
  type: "ask",
  session: 0,
  back: 0,
  edits: Object.entries(files).map(
    ([path, contents]): TeamEdit => ({ context: "site", path, contents }),
  ),
  ends: "completed",
  ...parts,
});

export type Row = Pick<WrittenHistory, "name" | "operations" | "then"> & Partial<WrittenHistory>;
/** Completes a row: one folder and one session of one context, and no conflicts. */
export const toHistory = (row: Row): WrittenHistory => ({
  folders: ["site"],
  sessions: [["site"]],
  isNormal: false,
  conflicts: 0,
  ...row,
});
