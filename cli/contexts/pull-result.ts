import { CliError, EXIT } from "../exit-codes";
import { hashesHere, type IncomingChanges, type PullResult } from "./incoming";
import { noteOf, readNotes, sameNote, writeNote } from "./note";
import { forgetFirstPush } from "./pending-push";
import type { Change } from "./three-way";

/**
 * Writes the folder's note after a pull. The folder stays linked to its context. Throws CliError,
 * also if another command has changed the note since the pull read it.
 */
export async function noteResult(
  { directory, incoming }: { directory: string; incoming: IncomingChanges },
  result: PullResult,
): Promise<void> {
  const { noteBefore, link } = incoming;
  if (!sameNote(noteOf(await readNotes(directory), link), noteBefore))
    throw new CliError(EXIT.config, CHANGED_NOTE);
  const left = [...result.kept.map((path) => ({ path })), ...result.taken];
  const note = incoming.noteAfter(result, await hashesHere(directory, left));
  await writeNote(directory, note, { links: false });
  if (noteBefore === null) await forgetFirstPush(directory);
}

const CHANGED_NOTE =
  "The changes are applied, but not noted: another push or pull of this folder ran at the same time. Pull again.";

/** The paths of these steps. A path that is also renamed counts with both names. */
export function pathsOf(steps: readonly { path: string }[], changes: readonly Change[]): string[] {
  const names = new Map(changes.map(({ path, was }) => [path, was]));
  return steps.flatMap(({ path }) => [path, names.get(path) ?? []].flat());
}
