import { lstat } from "node:fs/promises";
import path from "node:path";
import { CliError, EXIT } from "../exit-codes";
import { toLine } from "../terminal/sanitize";

/** The folder of the notes of this program, in each folder of a user. */
const NOTES = ".massgen-edge";

/**
 * Path of a note of a folder. Throws CliError if the note, or the folder of the notes, is a link: a
 * project from someone else could use and change the notes of another project in this way.
 */
export async function noteFile(directory: string, name: string): Promise<string> {
  const folder = path.join(directory, NOTES);
  const file = path.join(folder, name);
  for (const place of [folder, file]) {
    const entry = await lstat(place).catch(() => null);
    if (entry?.isSymbolicLink())
      throw new CliError(
        EXIT.config,
        `${toLine(place)} is a link, so the notes of another folder would be used and changed. Remove the link.`,
      );
  }
  return file;
}
