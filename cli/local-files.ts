import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "./exit-codes";
import type { Io } from "./io";

/** Largest file that is read. The service accepts no config of this size. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/**
 * Returns the text of a file; `null` if the file does not exist. Throws CliError if the file cannot
 * be read. Messages use `fileKind` ("config") and `displayPath`.
 */
export async function readTextFile(
  file: string,
  { fileKind, displayPath = file }: { fileKind: string; displayPath?: string },
): Promise<string | null> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES)
      throw new Error(`it has ${size} bytes, and ${fileKind}s have ${MAX_FILE_BYTES} at most`);
    return decode(await readFile(file));
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new CliError(
      EXIT.config,
      `Cannot read the ${fileKind} ${displayPath}: ${reasonOf(cause)}.`,
      { cause },
    );
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new Error("it is not UTF-8 text");
  }
}

/** Returns the system's error code, such as `ENOENT`; "" if there is no code. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  ENOSPC: "the disk is full",
  EROFS: "the disk is read-only",
};

/** Describes why a file operation failed, as part of a sentence. */
export const reasonOf = (error: unknown): string =>
  REASONS[codeOf(error)] ?? (error instanceof Error ? error.message : String(error));

/** Path of the project's config. */
export const projectConfig = ({ cwd }: Pick<Io, "cwd">): string =>
  path.join(cwd, ".massgen", "config.yaml");

/** Path of the user's config. MassGen uses the same path. */
export const userConfig = ({ home }: Pick<Io, "home">): string =>
  path.join(home, ".config", "massgen", "config.yaml");

/** Path of the file in which `login` stores servers and their keys. */
export const credentialsFile = ({ home }: Pick<Io, "home">): string =>
  path.join(home, ".config", "massgen-edge", "credentials.json");

/** Path of the list of configs that the user has allowed, by folder. */
export const consentsFile = ({ home }: Pick<Io, "home">): string =>
  path.join(home, ".config", "massgen-edge", "allowed-configs.json");

/** Path of the list of folders that the user has allowed to send for a config. */
export const allowedFoldersFile = ({ home }: Pick<Io, "home">): string =>
  path.join(home, ".config", "massgen-edge", "allowed-folders.json");

/** Path of the list of sessions that this computer used last, by service and folder. */
export const lastSessionsFile = ({ home }: Pick<Io, "home">): string =>
  path.join(home, ".config", "massgen-edge", "last-sessions.json");

/** A path as messages show it: relative to the current folder, or with `~` for the home folder. */
export function shownPath(file: string, { cwd, home }: Pick<Io, "cwd" | "home">): string {
  const relative = path.relative(cwd, file);
  if (relative !== "" && !relative.startsWith("..") && !path.isAbsolute(relative)) return relative;
  return file.startsWith(home + path.sep) ? `~${file.slice(home.length)}` : file;
}
