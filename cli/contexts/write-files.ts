import { randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { reasonOf } from "../local-files";

/**
 * Writes a whole file, or keeps the old one. Makes the folders above. An existing file keeps its
 * permissions for reading and writing. Throws CliError.
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

/** A file's mode, but whether it may be run: then by all who may read it. */
function modeLike(mode: number, executable: boolean): number {
  const kept = mode & 0o777;
  if ((kept & RUN) !== 0) return executable ? kept : kept & ~RUN;
  return executable ? kept | ((kept & READ) >> 2) : kept;
}

/**
 * Renames a file, and the folders above it, where old and new name differ in case alone. Throws
 * CliError.
 */
export async function renameInCase(directory: string, was: string, is: string): Promise<void> {
  const [olds, news] = [was.split("/"), is.split("/")];
  for (const [depth, name] of news.entries()) {
    const old = olds[depth] ?? name;
    if (old !== name) await renameEntry(path.join(directory, ...news.slice(0, depth)), old, name);
  }
}

async function renameEntry(folder: string, old: string, name: string): Promise<void> {
  const [from, to] = [path.join(folder, old), path.join(folder, name)];
  try {
    // Some systems list names in another Unicode form. A name that is not listed is renamed
    // already.
    if (!(await readdir(folder)).some((listed) => listed.normalize("NFC") === old)) return;
    // By a third name: many systems do nothing where the new name leads to the file itself.
    const between = path.join(folder, `.massgen-edge-${randomUUID()}`);
    await rename(from, between);
    await rename(between, to).catch(async (cause: unknown) => {
      await rename(between, from);
      throw cause;
    });
    // left over where both names were links to one file: rename does nothing then
    await rm(between, { force: true });
  } catch (cause) {
    throw new CliError(EXIT.config, `Cannot rename ${from} to ${name}: ${reasonOf(cause)}.`, {
      cause,
    });
  }
}
