import { randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { reasonOf } from "../local-files";

/**
 * Writes a file atomically: a failure keeps the old file. Creates its folders. An existing file
 * keeps its permissions for reading and writing. Throws CliError.
 */
export async function writeWhole(
  file: string,
  bytes: Uint8Array,
  executable: boolean,
): Promise<void> {
  const draft = path.join(path.dirname(file), `.massgen-edge-${randomUUID()}`);
  try {
    await mkdir(path.dirname(file), { recursive: true });
    const before = await lstat(file).catch(() => null);
    const mode = before?.isFile() ? modeLike(before.mode, executable) : null;
    await writeFile(draft, bytes, { flag: "wx", mode: mode ?? (executable ? 0o777 : 0o666) });
    // The umask may have removed permissions of the draft. A disk without modes is not a failure.
    if (mode !== null) await chmod(draft, mode).catch(() => undefined);
    await rename(draft, file);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new CliError(EXIT.config, `Cannot write ${file}: ${reasonOf(cause)}.`, { cause });
  }
}

const [READ, RUN] = [0o444, 0o111];

/** The mode with the executable bit set or cleared. It is set for all users who may read. */
function modeLike(mode: number, executable: boolean): number {
  const kept = mode & 0o777;
  if ((kept & RUN) !== 0) return executable ? kept : kept & ~RUN;
  return executable ? kept | ((kept & READ) >> 2) : kept;
}

/** Renames a file, and its folders, if the names differ only in case. Throws CliError. */
export async function renameInCase(
  directory: string,
  oldPath: string,
  newPath: string,
): Promise<void> {
  const [olds, news] = [oldPath.split("/"), newPath.split("/")];
  for (const [depth, name] of news.entries()) {
    const old = olds[depth] ?? name;
    if (old !== name) await renameEntry(path.join(directory, ...news.slice(0, depth)), old, name);
  }
}

async function renameEntry(folder: string, old: string, name: string): Promise<void> {
  const [from, to] = [path.join(folder, old), path.join(folder, name)];
  try {
    // Some systems list names in another Unicode form. If the old name is not listed, the entry is
    // already renamed.
    if (!(await readdir(folder)).some((listed) => listed.normalize("NFC") === old)) return;
    // Renames in two steps: many systems ignore a rename that changes only the case.
    const between = path.join(folder, `.massgen-edge-${randomUUID()}`);
    await rename(from, between);
    await rename(between, to).catch(async (cause: unknown) => {
      await rename(between, from);
      throw cause;
    });
    // `rename` does nothing if both names are links to one file, and the third name remains.
    await rm(between, { force: true });
  } catch (cause) {
    throw new CliError(EXIT.config, `Cannot rename ${from} to ${name}: ${reasonOf(cause)}.`, {
      cause,
    });
  }
}
