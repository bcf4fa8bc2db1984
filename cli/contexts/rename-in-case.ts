import { randomUUID } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { reasonOf } from "../local-files";

/** Renames a file, and the folders above it, where old and new name differ in case alone. Throws CliError. */
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
    // Some systems list names in another form than they take them. One that is not listed has the new name already.
    if (!(await readdir(folder)).some((listed) => listed.normalize("NFC") === old)) return;
    // By a third name: many systems do nothing where the new name leads to the file itself.
    const between = path.join(folder, `.massgen-edge-${randomUUID()}`);
    await rename(from, between);
    await rename(between, to).catch(async (cause: unknown) => {
      await rename(between, from);
      throw cause;
    });
    await rm(between, { force: true }); // left over where both names were links to one file: rename does nothing then
  } catch (cause) {
    throw new CliError(EXIT.config, `Cannot rename ${from} to ${name}: ${reasonOf(cause)}.`, {
      cause,
    });
  }
}
