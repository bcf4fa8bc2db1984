import { joined, mark, type Mark, UNWRITTEN } from "./marks";
import { type Files, GITIGNORE, isLeftOut, sameFiles } from "./paths";
import { filesOf, type Folder, markAt, mergedRecords, type State, type Version } from "./state";

export type PushOptions = { isForced?: boolean; included?: string };

/** `empty`: the folder has no files to push. `refused`: others pushed a version meanwhile. */
export type PushPrediction = {
  status: "committed" | "unchanged" | "refused" | "empty";
  /** The files of the newest version afterwards. */
  newest: Files;
  after: State;
};

/** The state of a file in a folder: the known one, unless the user changed the file since. */
export function ownMark({ files, known }: Folder, path: string): Mark {
  const [contents, common] = [files[path] ?? null, markAt(known, path)];
  return contents === common.contents ? common : mark(contents, common);
}

export const pathsOf = (...maps: readonly (ReadonlyMap<string, unknown> | Files)[]): string[] => [
  ...new Set(maps.flatMap((map) => (map instanceof Map ? [...map.keys()] : Object.keys(map)))),
];

/** Predicts a push: it sends every file of the folder that is not left out. */
export function predictPush(
  state: State,
  index: number,
  { isForced, included }: PushOptions,
): PushPrediction {
  const folder = state.folders[index];
  if (!folder) throw new Error(`there is no folder ${index}`);
  const versions = state.contexts.get(folder.context) ?? [];
  const newest = versions.at(-1);
  const newestFiles = newest ? filesOf(newest.marks, newest.leftOut) : {};
  const rules = {
    direction: "push",
    ignoreRules: folder.files[GITIGNORE] ?? null,
    included,
  } as const;
  const paths = pathsOf(folder.files, folder.known);
  const leftOut = new Set(paths.filter((path) => isLeftOut(path, rules)));
  const sent = Object.fromEntries(
    Object.entries(folder.files).filter(([path]) => !leftOut.has(path)),
  );
  if (Object.keys(sent).length === 0) return { status: "empty", newest: newestFiles, after: state };
  const isUnchanged = newest !== undefined && sameFiles(sent, newestFiles);
  const isBasedOnNewest = newest === undefined || folder.version === newest.number;
  const isChecked = !isForced && folder.version !== 0;
  if (isChecked && !isUnchanged && !isBasedOnNewest)
    return { status: "refused", newest: newestFiles, after: state };
  const own = new Map(paths.map((path) => [path, ownMark(folder, path)]));
  // Whoever replaces a version without its knowledge decides against its contents.
  const isBlind = newest !== undefined && !isBasedOnNewest;
  const all = isBlind ? pathsOf(own, newest.marks) : [...own.keys()];
  const marks = new Map(
    all.map((path) => {
      const ours = own.get(path) ?? UNWRITTEN;
      if (!isBlind || leftOut.has(path) || newest.leftOut.has(path)) return [path, ours];
      return [path, joined(ours.contents, ours, markAt(newest.marks, path))];
    }),
  );
  const records = newest
    ? mergedRecords(state.sessions, newest.records, folder.records)
    : folder.records;
  const version: Version = {
    number: newest && isUnchanged ? newest.number : versions.length + 1,
    marks: isUnchanged ? keptMarks(newest, marks) : marks,
    leftOut,
    records,
  };
  const known = new Map([...folder.known, ...[...marks].filter(([path]) => !leftOut.has(path))]);
  const pushed: Folder = { ...folder, known, version: version.number, records };
  return {
    status: isUnchanged ? "unchanged" : "committed",
    newest: sent,
    after: {
      ...state,
      contexts: new Map([
        ...state.contexts,
        [folder.context, [...(isUnchanged ? versions.slice(0, -1) : versions), version]],
      ]),
      folders: state.folders.with(index, pushed),
    },
  };
}

/** The marks of a version after a push of the same files: they know what the folder knows. */
const keptMarks = ({ marks }: Version, pushed: ReadonlyMap<string, Mark>): Map<string, Mark> =>
  new Map(
    pathsOf(marks, pushed).map((path) => {
      const [before, now] = [markAt(marks, path), markAt(pushed, path)];
      return [path, before.contents === now.contents ? joined(now.contents, now, before) : now];
    }),
  );
