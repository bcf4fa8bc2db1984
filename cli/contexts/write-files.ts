import { randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { reasonOf } from "../local-files";

/**
 * Writes a file atomically: after a failure, the old file is unchanged. Creates missing folders. An
 * existing file keeps its permissions for reading and writing. Throws CliError.
 */
export async function writeWhole(
  file: string,
  bytes: Uint8Array,
  executable: boolean,
): Promise<void> {
  const temporaryFile = path.join(path.dirname(file), `.massgen-edge-${randomUUID()}`);
  try {
    await mkdir(path.dirname(file), { recursive: true });
    const existing = await lstat(file).catch(() => null);
    const mode = existing?.isFile() ? modeLike(existing.mode, executable) : null;
    await writeFile(temporaryFile, bytes, {
      flag: "wx",
      mode: mode ?? (executable ? 0o777 : 0o666),
    });
    // The umask may have removed permissions of the temporary file. A disk without modes makes
    // chmod fail, which is no error here.
    if (mode !== null) await chmod(temporaryFile, mode).catch(() => undefined);
    await rename(temporaryFile, file);
  } catch (cause) {
    await rm(temporaryFile, { force: true }).catch(() => undefined);
    throw new CliError(EXIT.config, `Cannot write ${file}: ${reasonOf(cause)}.`, { cause });
  }
}

const [READ, RUN] = [0o444, 0o111];

/**
 * Sets or clears the executable bit of a mode. The bit is set for all users who may read the file.
 */
function modeLike(mode: number, executable: boolean): number {
  const permissions = mode & 0o777;
  if ((permissions & RUN) !== 0) return executable ? permissions : permissions & ~RUN;
  return executable ? permissions | ((permissions & READ) >> 2) : permissions;
}

/** Renames a file, and its folders, if the names differ only in case. Throws CliError. */
export async function renameInCase(
  directory: string,
  oldPath: string,
  newPath: string,
): Promise<void> {
  const [oldNames, newNames] = [oldPath.split("/"), newPath.split("/")];
  for (const [depth, name] of newNames.entries()) {
    const old = oldNames[depth] ?? name;
    if (old !== name)
      await renameEntry(path.join(directory, ...newNames.slice(0, depth)), old, name);
  }
}

async function renameEntry(folder: string, old: string, name: string): Promise<void> {
  const [from, to] = [path.join(folder, old), path.join(folder, name)];
  try {
    // Some systems list names in another Unicode form. If the old name is not listed, the entry is
    // already renamed.
    if (!(await readdir(folder)).some((listed) => listed.normalize("NFC") === old)) return;
    // Renames in two steps: many systems ignore a rename that changes only the case.
    const temporaryPath = path.join(folder, `.massgen-edge-${randomUUID()}`);
    await rename(from, temporaryPath);
    await rename(temporaryPath, to).catch(async (cause: unknown) => {
      await rename(temporaryPath, from);
      throw cause;
    });
    // `rename` does nothing if both names are links to one file: then the temporary name remains.
    await rm(temporaryPath, { force: true });
  } catch (cause) {
    throw new CliError(EXIT.config, `Cannot rename ${from} to ${name}: ${reasonOf(cause)}.`, {
      cause,
    });
  }
}
