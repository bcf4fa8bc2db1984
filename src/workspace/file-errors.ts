import { parentOf } from "./paths";
import type { FileLimits } from "./agent-files";
import { FileError } from "./types";

/** Errors for an agent about a path. Paths are absolute. */

export const notFound = (path: string): FileError =>
  new FileError(
    "not_found",
    `${path} does not exist. List ${parentOf(path) || "/"} to see what is there.`,
  );

export const isDirectory = (path: string): FileError =>
  new FileError("is_directory", `${path} is a directory, not a file.`);

export const notADirectory = (path: string): FileError =>
  new FileError("not_a_directory", `${path} is a file, not a directory.`);

export const alreadyThere = (path: string): FileError =>
  new FileError("exists", `${path} is already there. Take another name, or remove it first.`);

export const intoItself = (from: string, to: string): FileError =>
  new FileError("into_itself", `${to} lies in ${from}: a directory cannot be put into itself.`);

/** `name` is the first segment of a workspace path that leads to another mount. */
export const reservedName = (name: string): FileError =>
  new FileError(
    "reserved_name",
    `/workspace/${name} leads to /${name}, so nothing can be put there. Take a directory in the workspace for all of it, e.g. /workspace/copy.`,
  );

export const isRoot = (path: string): FileError =>
  new FileError("is_root", `${path} itself stays. Name what is in it.`);

/** The size of a tree before and after an operation. */
type Growth = { limits: FileLimits; before: Stats; after: Stats };
type Stats = { files: number; bytes: number };

/**
 * The error if a tree would grow above its limits; `null` if the operation is allowed. A tree that
 * is already above a limit must not grow further.
 */
export function limitProblem(root: string, { limits, before, after }: Growth): FileError | null {
  if (after.files > limits.files && after.files > before.files) {
    const message = `${root} may hold ${limits.files} files and would hold ${after.files}. Remove some, or pack them into one.`;
    return new FileError("too_many_files", message);
  }
  if (after.bytes > limits.treeBytes && after.bytes > before.bytes) {
    const message = `${root} may hold ${bytes(limits.treeBytes)} and would hold ${bytes(after.bytes)}. Remove what is not needed.`;
    return new FileError("tree_too_large", message);
  }
  return null;
}

/**
 * The error for too many directories. They are limited because a directory needs as much memory as
 * a file, and a file creates one directory for each level of its path.
 */
export const tooManyDirectories = (root: string, maxDirectories: number): FileError =>
  new FileError(
    "too_many_files",
    `${root} may hold ${maxDirectories} directories, empty ones among them. Remove some, or nest files less deeply.`,
  );

/** The error if a file is too large; `null` if its size is allowed. */
export function sizeProblem(
  path: string,
  size: number,
  { fileBytes }: FileLimits,
): FileError | null {
  if (size <= fileBytes) return null;
  return new FileError(
    "file_too_large",
    `${path} would have ${bytes(size)}; a file may have ${bytes(fileBytes)}. Split it.`,
  );
}

/** The error for too many new bytes in one call. They are in memory until the call settles. */
export const tooMuchAtOnce = (maxBytes: number): FileError =>
  new FileError(
    "too_much_at_once",
    `One call may write ${bytes(maxBytes)} in all. Write less at once, or in several calls.`,
  );

const bytes = (count: number): string => `${count.toLocaleString("en-US")} bytes`;
