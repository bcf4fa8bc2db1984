import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { reasonOf } from "../text-file";

/** Writes a file, or leaves what was there: never half of one. Makes the folders above. Throws CliError. */
export async function writeWhole(file: string, bytes: Uint8Array, executable: boolean): Promise<void> {
  const draft = path.join(path.dirname(file), `.massgen-edge-${randomUUID()}`);
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(draft, bytes, { flag: "wx", mode: executable ? 0o777 : 0o666 });
    await rename(draft, file);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new CliError(EXIT.config, `Cannot write ${file}: ${reasonOf(cause)}.`, { cause });
  }
}
