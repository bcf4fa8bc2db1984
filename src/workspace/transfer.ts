import {
  alreadyThere,
  intoItself,
  isDirectory,
  isRoot,
  limitProblem,
  notADirectory,
  reservedName,
  sizeProblem,
  tooManyDirectories,
} from "./file-errors";
import type { FileLimits } from "./agent-files";
import { isHandedOver } from "./workspace-facts";
import { ancestorsOf, formatPlace, isShadowed, joinPath, relativePath } from "./paths";
import type { FileEntry, Place } from "./types";
import type { WorkingTree } from "./working-tree";

/**
 * Plans copies and moves. All checks run before the first change, so that an operation happens
 * completely or not at all.
 */

/** A place with its tree. */
export type TreePlace = { place: Place; tree: WorkingTree };
export type TransferKind = "copy" | "move";
/** The files to copy or move, and the directories to create. Paths are relative to their trees. */
export type Transfer = {
  files: { from: string; to: string; entry: FileEntry }[];
  directories: string[];
};

const pathIn = (place: Place, path: string): string => formatPlace({ ...place, path });
const isWithin = (path: string, directory: string): boolean =>
  directory === "" || path === directory || path.startsWith(`${directory}/`);

/**
 * Plans a copy or a move. The source must exist. Throws `FileError` for conflicts. Does not check
 * permissions.
 */
export function planTransfer(kind: TransferKind, source: TreePlace, target: TreePlace): Transfer {
  const [from, to] = [source.place.path, target.place.path];
  const entry = source.tree.file(from);
  if (kind === "move" && from === "") throw isRoot(formatPlace(source.place));
  if (entry) return checked(target, { files: [{ from, to, entry }], directories: [] });
  const isSameTree = source.tree === target.tree;
  if (isSameTree && from !== to && isWithin(to, from))
    throw intoItself(formatPlace(source.place), formatPlace(target.place));
  if (kind === "move" && target.tree.childrenOf(to).length > 0)
    throw alreadyThere(formatPlace(target.place));
  return checked(target, contentsOf(source, to));
}

function contentsOf({ place, tree }: TreePlace, to: string): Transfer {
  const targetPath = (path: string) =>
    joinPath(to, place.path === "" ? path : path.slice(place.path.length + 1));
  const files = [...tree.filesBelow(place.path)].flatMap((path) => {
    const entry = tree.file(path);
    return entry ? [{ from: path, to: targetPath(path), entry }] : [];
  });
  return {
    files,
    directories: [...tree.directoriesBelow(place.path)]
      .map(targetPath)
      .filter((path) => path !== ""),
  };
}

/** The transfer, after a check of every target path. */
function checked({ place, tree }: TreePlace, transfer: Transfer): Transfer {
  for (const { to } of transfer.files) checkFile({ place: { ...place, path: to }, tree });
  for (const path of transfer.directories) checkDirectory({ place: { ...place, path }, tree });
  return transfer;
}

/**
 * Whether moving a file counts as a deletion: the file leaves its tree, or the part of the
 * workspace that belongs to answers.
 */
export function countsAsDeletion(
  { from, to }: { from: string; to: string },
  { source, target }: { source: TreePlace; target: TreePlace },
): boolean {
  if (source.tree !== target.tree) return true;
  return target.place.mount.kind === "workspace" && isHandedOver(from) && !isHandedOver(to);
}

/** Throws `FileError` if a file cannot be created here. */
export function checkFile({ place, tree }: TreePlace): void {
  if (tree.isDirectory(place.path)) throw isDirectory(formatPlace(place));
  checkPath(place);
  const fileAbove = tree.fileAbove(place.path);
  if (fileAbove !== null) throw notADirectory(pathIn(place, fileAbove));
}

/** Throws `FileError` if a directory cannot be created here. */
export function checkDirectory({ place, tree }: TreePlace): void {
  if (place.path === "") return;
  checkPath(place);
  const file = tree.file(place.path) ? place.path : tree.fileAbove(place.path);
  if (file !== null) throw notADirectory(pathIn(place, file));
}

/** Throws `FileError` if a target path is too long or leads to another mount. */
function checkPath(place: Place): void {
  relativePath(place.path);
  if (isShadowed(place)) throw reservedName(place.path.split("/", 1)[0] ?? "");
}

/** An operation that adds files to a tree, and possibly removes files of the same tree. */
type Addition = {
  target: TreePlace;
  /** The files that the tree gets. */
  files: readonly { to: string; entry: FileEntry }[];
  /** The directories that the tree gets. Omitted: only the parents of the files. */
  directories?: readonly string[];
  /** The files that the tree loses. */
  leaving: readonly FileEntry[];
  /** Number of directories that the tree loses. Omitted: 0. */
  leavingDirectories?: number;
};

/** Throws `FileError` if the operation would exceed the limits of the tree. */
export function checkLimits(addition: Addition, limits: FileLimits): void {
  const { target, files, directories = [], leaving, leavingDirectories = 0 } = addition;
  const { place, tree } = target;
  const before = tree.stats();
  const after = { files: before.files - leaving.length, bytes: before.bytes };
  for (const { size } of leaving) after.bytes -= size;
  for (const { to, entry } of files) {
    const tooLarge = sizeProblem(pathIn(place, to), entry.size, limits);
    if (tooLarge) throw tooLarge;
    const replaced = tree.file(to);
    after.files += replaced ? 0 : 1;
    after.bytes += entry.size - (replaced?.size ?? 0);
  }
  const tooFull = limitProblem(pathIn(place, ""), { limits, before, after });
  if (tooFull) throw tooFull;
  const needed = new Set([...files.map(({ to }) => to), ...directories].flatMap(ancestorsOf));
  for (const path of directories) needed.add(path);
  const missing = [...needed].filter((path) => !tree.isDirectory(path));
  const growth = missing.length - leavingDirectories;
  if (growth > 0 && tree.directoryCount() + growth > limits.files)
    throw tooManyDirectories(pathIn(place, ""), limits.files);
}
