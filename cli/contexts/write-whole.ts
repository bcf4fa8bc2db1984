import { randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { reasonOf } from "../local-files";

/**
 * Writes a file, or leaves what was there: never half of one. Makes the folders above. Who may read and write a file that was there
 * stays as it was. Throws CliError.
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
    // It was made with no more than that, as far as the umask let it; a disk that knows no modes is no reason to fail.
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
