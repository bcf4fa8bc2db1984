import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "./exit-codes";
import type { Io } from "./io";

/** Limit of a file. The service accepts no config of this size. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/**
 * The text of a file; `null` if the file does not exist. Throws CliError if it cannot be read.
 */
export async function readTextFile(
  file: string,
  { what, shown = file }: { what: string; shown?: string },
): Promise<string | null> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES)
      throw new Error(`it has ${size} bytes, and ${what}s have ${MAX_FILE_BYTES} at most`);
    return decode(await readFile(file));
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new CliError(EXIT.config, `Cannot read the ${what} ${shown}: ${reasonOf(cause)}.`, {
      cause,
    });
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new Error("it is not UTF-8 text");
  }
}

/** The system's error code, such as `ENOENT`; "" if there is no code. */
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

/** The reason of a file error, as part of a sentence. */
export const reasonOf = (error: unknown): string =>
  REASONS[codeOf(error)] ?? (error instanceof Error ? error.message : String(error));

/** Paths of the user's files. */

/** The project's config. */
export const projectConfig = ({ cwd }: Pick<Io, "cwd">): string =>
  path.join(cwd, ".massgen", "config.yaml");

/** The user's config, at the path that MassGen uses. */
export const userConfig = ({ home }: Pick<Io, "home">): string =>
  path.join(home, ".config", "massgen", "config.yaml");

/** The service and the key that `login` stored. */
export const credentialsFile = ({ home }: Pick<Io, "home">): string =>
  path.join(home, ".config", "massgen-edge", "credentials.json");

/** The configs of folders that the user has allowed. */
export const consentsFile = ({ home }: Pick<Io, "home">): string =>
  path.join(home, ".config", "massgen-edge", "allowed-configs.json");

/** A path for messages: relative to the current folder, or with `~` for the home folder. */
export function shownPath(file: string, { cwd, home }: Pick<Io, "cwd" | "home">): string {
  const relative = path.relative(cwd, file);
  if (relative !== "" && !relative.startsWith("..") && !path.isAbsolute(relative)) return relative;
  return file.startsWith(home + path.sep) ? `~${file.slice(home.length)}` : file;
}
