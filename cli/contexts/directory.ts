import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { CONTEXT_LIMITS } from "../../src/protocol/context-limits";
import { CliError, EXIT } from "../exit-codes";
import { toLine } from "../terminal/sanitize";
import { localNames } from "./local-names";
import { hashOf, isAcceptedPath, readPlainFile } from "./scan";
import type { LocalEntry, BlockingEntries } from "./three-way";

/**
 * Resolves the folder argument of a command. Throws CliError if it is a link, no directory, or the
 * whole file system.
 */
export async function toDirectory(cwd: string, text: string | undefined): Promise<string> {
  const directory = path.resolve(cwd, text ?? ".");
  const entry = await lstat(directory).catch(() => null);
  if (directory === path.parse(directory).root)
    throw new CliError(
      EXIT.config,
      `${directory} is the whole disk. Name the folder of a project.`,
    );
  if (entry?.isDirectory()) return directory;
  const kind = entry?.isSymbolicLink()
    ? "a link. Name the folder that it leads to"
    : "not a folder";
  throw new CliError(EXIT.config, `${toLine(text ?? directory)} is ${kind}.`);
}

const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * Why a path from the server must not be written on this machine; `null` if it may be written.
 * Paths from a server are untrusted.
 */
export function refusalOf(text: string): string | null {
  const parts = text.split("/");
  if (
    /[\p{Cc}\\]/u.test(text) ||
    parts.some((part) => part === "" || part === "." || part === "..")
  )
    return "leads outside the folder";
  if (parts.some((part) => /^[a-z]:/i.test(part) || WINDOWS_DEVICE.test(part)))
    return "names a device or a drive";
  // The names with `~` are short forms on Windows.
  if (parts.some((part) => /^(\.git|git~\d+|\.massgen-edge|massge~\d+)[. ]*$/i.test(part)))
    return "could run programs on this machine";
  return isAcceptedPath(text) ? null : "is an invalid name on other systems";
}

/** Describes the local entry at a path. Follows no link, neither at the path nor in its parents. */
export async function inspect(directory: string, text: string): Promise<LocalEntry> {
  const refusal = refusalOf(text);
  if (refusal !== null) return { blocked: refusal };
  const parts = text.split("/");
  const names = await localNames(directory, text);
  for (let depth = 1; depth < parts.length; depth += 1) {
    const parent = parts.slice(0, depth).join("/");
    const place = path.join(directory, ...names.slice(0, depth));
    const entry = await lstat(place).catch(() => null);
    if (entry === null) return null;
    if (entry.isFile())
      return { blocked: `${parent} is a file here`, by: { files: [parent], folders: [] } };
    if (!entry.isDirectory())
      return { blocked: `${parent} is ${entry.isSymbolicLink() ? "a link" : "no folder"} here` };
  }
  const file = path.join(directory, ...names);
  const entry = await lstat(file).catch(() => null);
  if (entry === null) return null;
  if (entry.isDirectory()) return { blocked: "is a folder here", by: await contentsOf(file, text) };
  if (!entry.isFile())
    return { blocked: entry.isSymbolicLink() ? "is a link here" : "is not a regular file here" };
  const read = await readPlainFile(file);
  if (!read?.bytes) return { blocked: "is larger than a file of a context may be" };
  return { hash: hashOf(read.bytes), executable: read.executable };
}

/**
 * Lists the contents of a folder. `folder`: its path in the context. An unreadable folder, or a
 * folder larger than a context, is listed as a file, so that no plan deletes it.
 */
async function contentsOf(place: string, folder: string): Promise<BlockingEntries> {
  const [files, folders]: [string[], string[]] = [[], []];
  const isTooLarge = (): boolean => files.length + folders.length > 2 * CONTEXT_LIMITS.files;
  const walk = async (localFolder: string, folderPath: string): Promise<void> => {
    const children = isTooLarge()
      ? null
      : await readdir(localFolder, { withFileTypes: true }).catch(() => null);
    if (children === null) files.push(folderPath);
    for (const child of children ?? []) {
      const childPath = `${folderPath}/${child.name.normalize("NFC")}`;
      if (child.isDirectory()) await walk(path.join(localFolder, child.name), childPath);
      else files.push(childPath);
    }
    folders.push(folderPath);
  };
  await walk(place, folder);
  return { files, folders };
}

/** Whether two paths that differ only in case are the same file on this machine's disk. */
export async function isSameFile(directory: string, one: string, other: string): Promise<boolean> {
  const [here, there] = await Promise.all([
    identityOf(directory, one),
    identityOf(directory, other),
  ]);
  return here !== null && here === there;
}

/**
 * The identity of a file and of its folders on this machine; `null` if the file does not exist. Two
 * paths that differ only in case have the same identity if they are the same file.
 */
export async function identityOf(directory: string, filePath: string): Promise<string | null> {
  const names = await localNames(directory, filePath);
  const identities: string[] = [];
  for (let depth = 1; depth <= names.length; depth += 1) {
    const place = path.join(directory, ...names.slice(0, depth));
    const entry = await lstat(place, { bigint: true }).catch(() => null);
    if (entry === null) return null;
    identities.push(`${entry.dev}:${entry.ino}`);
  }
  return identities.join("/");
}
