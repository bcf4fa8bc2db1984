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

/** Plans copies and moves before any change, so that they happen completely or not at all. */

/** A place with its tree. */
export type TreePlace = { place: Place; tree: WorkingTree };
export type TransferKind = "copy" | "move";
/** Paths are relative to their trees. `from` and `to` belong to one file. */
export type Transfer = {
  files: { from: string; to: string; entry: FileEntry }[];
  directories: string[];
};

const at = (place: Place, path: string): string => formatPlace({ ...place, path });
const isWithin = (path: string, directory: string): boolean =>
  directory === "" || path === directory || path.startsWith(`${directory}/`);

/**
 * The transfers for a copy or move; the source must exist. Throws `FileError` for conflicts. Does
 * not check permissions.
 */
export function planTransfer(kind: TransferKind, source: TreePlace, target: TreePlace): Transfer {
  const [from, to] = [source.place.path, target.place.path];
  const entry = source.tree.file(from);
  if (kind === "move" && from === "") throw isRoot(formatPlace(source.place));
  if (entry) return planned(target, { files: [{ from, to, entry }], directories: [] });
  const sameTree = source.tree === target.tree;
  if (sameTree && from !== to && isWithin(to, from))
    throw intoItself(formatPlace(source.place), formatPlace(target.place));
  if (kind === "move" && target.tree.childrenOf(to).length > 0)
    throw alreadyThere(formatPlace(target.place));
  return planned(target, contentsOf(source, to));
}

function contentsOf({ place, tree }: TreePlace, to: string): Transfer {
  const below = (path: string) =>
    joinPath(to, place.path === "" ? path : path.slice(place.path.length + 1));
  const files = [...tree.filesBelow(place.path)].flatMap((path) => {
    const entry = tree.file(path);
    return entry ? [{ from: path, to: below(path), entry }] : [];
  });
  return {
    files,
    directories: [...tree.directoriesBelow(place.path)].map(below).filter((path) => path !== ""),
  };
}

function planned({ place, tree }: TreePlace, transfer: Transfer): Transfer {
  for (const { to } of transfer.files) checkFile({ place: { ...place, path: to }, tree });
  for (const path of transfer.directories) checkDirectory({ place: { ...place, path }, tree });
  return transfer;
}

/**
 * Whether moving this file counts as a deletion: it leaves its tree, or the part of it that answers
 * contain.
 */
export function takesAway(
  { from, to }: { from: string; to: string },
  { source, target }: { source: TreePlace; target: TreePlace },
): boolean {
  if (source.tree !== target.tree) return true;
  return target.place.mount.kind === "workspace" && isHandedOver(from) && !isHandedOver(to);
}

/** Throws `FileError` if a file cannot be created here. */
export function checkFile({ place, tree }: TreePlace): void {
  if (tree.isDirectory(place.path)) throw isDirectory(formatPlace(place));
  checkJoined(place);
  const above = tree.fileAbove(place.path);
  if (above !== null) throw notADirectory(at(place, above));
}

/** Throws `FileError` if a directory cannot be created here. */
export function checkDirectory({ place, tree }: TreePlace): void {
  if (place.path === "") return;
  checkJoined(place);
  const file = tree.file(place.path) ? place.path : tree.fileAbove(place.path);
  if (file !== null) throw notADirectory(at(place, file));
}

/** Throws `FileError` if a combined path is too long or leads to another mount. */
function checkJoined(place: Place): void {
  relativePath(place.path);
  if (isShadowed(place)) throw reservedName(place.path.split("/", 1)[0] ?? "");
}

/** Files that arrive at a target, and files that it loses. */
type Delivery = {
  target: TreePlace;
  files: readonly { to: string; entry: FileEntry }[];
  directories?: readonly string[];
  leaving: readonly FileEntry[];
  /** Number of directories that it loses. */
  leavingDirectories?: number;
};

/** Throws `FileError` if the target's limits are exceeded. */
export function checkRoom(delivery: Delivery, limits: FileLimits): void {
  const { target, files, directories = [], leaving, leavingDirectories = 0 } = delivery;
  const { place, tree } = target;
  const before = tree.stats();
  const after = { files: before.files - leaving.length, bytes: before.bytes };
  for (const { size } of leaving) after.bytes -= size;
  for (const { to, entry } of files) {
    const tooLarge = sizeProblem(at(place, to), entry.size, limits);
    if (tooLarge) throw tooLarge;
    const replaced = tree.file(to);
    after.files += replaced ? 0 : 1;
    after.bytes += entry.size - (replaced?.size ?? 0);
  }
  const full = limitProblem(at(place, ""), { limits, before, after });
  if (full) throw full;
  const wanted = new Set([...files.map(({ to }) => to), ...directories].flatMap(ancestorsOf));
  for (const path of directories) wanted.add(path);
  const more = [...wanted].filter((path) => !tree.isDirectory(path)).length - leavingDirectories;
  if (more > 0 && tree.directoryCount() + more > limits.files)
    throw tooManyDirectories(at(place, ""), limits.files);
}
