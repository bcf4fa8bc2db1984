import { joined, mark, type Mark } from "./marks";
import { type Files, ignoreRulesOf, isLeftOut, sameFiles } from "./paths";
import { filesOf, type Folder, markAt, mergedRecords, type State, type Version } from "./state";

export type PushOptions = { included?: string; isKilled?: boolean };

/**
 * Whether the folder's last push was killed before it was noted, and others have pushed since. Then
 * the folder cannot find its version again, and the model decides nothing.
 */
export const isLost = ({ contexts }: State, { context, unnoted }: Folder): boolean =>
  unnoted !== 0 && contexts.get(context)?.at(-1)?.number !== unnoted;

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
  { included, isKilled = false }: PushOptions,
): PushPrediction {
  const folder = state.folders[index];
  if (!folder) throw new Error(`there is no folder ${index}`);
  const versions = state.contexts.get(folder.context) ?? [];
  const newest = versions.at(-1);
  const newestFiles = newest ? filesOf(newest.marks, newest.leftOut) : {};
  const { marks, leftOut } = sentBy(folder, included, newest);
  const sent = filesOf(marks, leftOut);
  if (Object.keys(sent).length === 0) return { status: "empty", newest: newestFiles, after: state };
  const isUnchanged = newest !== undefined && sameFiles(sent, newestFiles);
  const isUnmerged = [...folder.skipped].some(
    ([path, here]) =>
      !leftOut.has(path) &&
      (sent[path] ?? null) === here &&
      here !== (versionOf(versions, folder.version)[path] ?? null),
  );
  const isRefused =
    isUnmerged || (newest !== undefined && !isUnchanged && folder.version !== newest.number);
  if (isRefused) return { status: "refused", newest: newestFiles, after: state };
  const records = newest
    ? mergedRecords(state.sessions, newest.records, folder.records)
    : folder.records;
  // A folder without a note that has the files of the newest version becomes a copy of it.
  const isCopy = isUnchanged && folder.version === 0;
  const version: Version = {
    number: isUnchanged ? newest.number : versions.length + 1,
    marks: isUnchanged ? keptMarks(newest, marks) : marks,
    leftOut: isCopy ? leftOutOf(newest, leftOut, sent) : leftOut,
    isMove: folder.hasMoved || (isUnchanged && newest.isMove),
    records,
  };
  const noted = isCopy ? version.marks : marks;
  const known = new Map([...noted].filter(([path]) => !version.leftOut.has(path)));
  const pushed: Folder = {
    ...folder,
    known: new Map([...folder.known, ...known]),
    version: version.number,
    skipped: new Map(),
    unnoted: isKilled && !isUnchanged ? version.number : 0,
    hasMoved: false,
    records,
  };
  const kept = isUnchanged ? versions.slice(0, -1) : versions;
  return {
    status: isUnchanged ? "unchanged" : "committed",
    newest: sent,
    after: {
      ...state,
      contexts: new Map([...state.contexts, [folder.context, [...kept, version]]]),
      folders: state.folders.with(index, pushed),
    },
  };
}

/** The files of a version; none if there is no such version. */
function versionOf(versions: readonly Version[], number: number): Files {
  const version = versions.find((one) => one.number === number);
  return version ? filesOf(version.marks, version.leftOut) : {};
}

/** The state of a file that a push sends. A skipped file that is sent contains the newest one. */
function sentMark(folder: Folder, path: string, newest: Version | undefined): Mark {
  const own = ownMark(folder, path);
  if (!newest || !folder.skipped.has(path)) return own;
  return mark(own.contents, own, markAt(newest.marks, path));
}

/** The states of all files that a folder has or knows, and the paths that its push leaves out. */
function sentBy(folder: Folder, included: string | undefined, newest: Version | undefined) {
  const rules = { direction: "push", ignoreRules: ignoreRulesOf(folder), included } as const;
  const paths = pathsOf(folder.files, folder.known);
  // A file that was deleted before it was excluded stays deleted.
  const isDeleted = (path: string) =>
    !(path in folder.files) && markAt(folder.known, path).contents === null;
  return {
    marks: new Map(paths.map((path) => [path, sentMark(folder, path, newest)])),
    leftOut: new Set(paths.filter((path) => isLeftOut(path, rules) && !isDeleted(path))),
  };
}

/** The paths that a version and a push of the same files leave out. */
const leftOutOf = (
  { leftOut }: Version,
  own: ReadonlySet<string>,
  sent: Files,
): ReadonlySet<string> => new Set([...leftOut, ...own].filter((path) => !(path in sent)));

/** The marks of a version after a push of the same files: they know what the folder knows. */
const keptMarks = ({ marks }: Version, pushed: ReadonlyMap<string, Mark>): Map<string, Mark> =>
  new Map(
    pathsOf(marks, pushed).map((path) => {
      const [before, now] = [markAt(marks, path), markAt(pushed, path)];
      return [path, before.contents === now.contents ? joined(now.contents, now, before) : now];
    }),
  );
