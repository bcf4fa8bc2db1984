import { CliError, EXIT } from "../exit-codes";
import { hashesHere, type IncomingChanges, type PullResult } from "./incoming";
import { applySteps } from "./apply";
import type { ContentFetcher } from "./context-client";
import { forgetPull, writePlannedPull } from "./interrupted-pull";
import { noteOf, readNotes, sameNote, writeNote } from "./note";
import { forgetFirstPush } from "./pending-push";
import type { Change, Step } from "./three-way";

type Application = { steps: readonly Step[]; result: PullResult; fetch: ContentFetcher };

/**
 * Performs the steps of a pull, and writes the folder's note. The folder stays linked to its
 * context. Throws CliError, also if another command has changed the note since the pull read it.
 */
export async function applyAndNote(
  { directory, incoming }: { directory: string; incoming: IncomingChanges },
  { steps, result, fetch }: Application,
): Promise<Awaited<ReturnType<typeof applySteps>>> {
  const { noteBefore: before, link, done, words } = incoming;
  const left = [...result.kept.map((path) => ({ path })), ...result.taken];
  const taken = result.taken.map(({ path, sha256 }) => [path, sha256] as const);
  const planned = incoming.noteAfter(
    result,
    new Map([...(await hashesHere(directory, left)), ...taken]),
  );
  await writePlannedPull(directory, { before, after: planned, words: [...words], steps, done });
  const counts = await applySteps(directory, steps, fetch);
  if (!sameNote(noteOf(await readNotes(directory), link), before))
    throw new CliError(EXIT.config, CHANGED_NOTE);
  const note = incoming.noteAfter(result, await hashesHere(directory, left));
  await writeNote(directory, note, { links: false });
  await forgetPull(directory);
  if (before === null) await forgetFirstPush(directory);
  return counts;
}

const CHANGED_NOTE =
  "The changes are applied, but not noted: another push or pull of this folder ran at the same time. Pull again.";

/** The paths of these steps. A path that is also renamed counts with both names. */
export function pathsOf(steps: readonly { path: string }[], changes: readonly Change[]): string[] {
  const names = new Map(changes.map(({ path, was }) => [path, was]));
  return steps.flatMap(({ path }) => [path, names.get(path) ?? []].flat());
}
