import type { PlantedBug } from "./bug";

/**
 * Bugs in what `push` and `pull` of the command line compare a folder with. Random histories of
 * files reveal them.
 */
export const BUGS_OF_COMMAND_LINE: readonly PlantedBug[] = [
  {
    name: "a pull ignores the pulled turn and compares with the version of the folder",
    file: "cli/contexts/common-base.ts",
    find: "if (noted === null || (common !== null && containsTurn(common, noted)))",
    replace: "if (noted === null || common !== null)",
    invariant: "file-histories",
  },
  {
    name: "a pull of a turn ignores what the folder pushed after it",
    file: "cli/contexts/turn-base.ts",
    find: "return joinedBase({ version, turn: state.files, origin, leftOut });",
    replace:
      "return { ...joinedBase({ version, turn: state.files, origin, leftOut }), base: new Map(state.files) };",
    invariant: "file-histories",
  },
  {
    name: "a pull of a version deletes files that another folder only excludes",
    file: "cli/contexts/incoming-version.ts",
    find: "for (const path of [...known.keys()].filter(isExcluded)) known.delete(path);",
    replace: "known.delete([...known.keys()].filter(isExcluded).slice(0, 0).join());",
    invariant: "file-histories",
  },
  {
    name: "a push of a folder without a note replaces an existing context",
    file: "cli/contexts/push.ts",
    find: "const base = replaced ? undefined : (note?.version ?? null);",
    replace: "const base = replaced ? undefined : note?.version;",
    invariant: "file-histories",
  },
  {
    name: "a pull that was killed is not completed",
    file: "cli/contexts/interrupted-pull.ts",
    find: "if (done < files.length) return done === 0 ? null : { files: files.slice(0, done), words };",
    replace: "if (done <= files.length) return null;",
    invariant: "file-histories",
  },
  {
    name: "a push that was killed is not found again",
    file: "cli/contexts/pending-push.ts",
    find: "if (pending?.base !== note.version) return unsettled;",
    replace: "if (pending?.base !== note.version || note.name !== '') return unsettled;",
    invariant: "file-histories",
  },
];
