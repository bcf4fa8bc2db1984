import type { IncomingChanges, PullResult } from "./incoming";
import { writeNote } from "./note";
import type { Change } from "./three-way";

/** Writes the folder's note after a pull. */
export async function noteResult(
  { directory, incoming }: { directory: string; incoming: IncomingChanges },
  result: PullResult,
): Promise<void> {
  const note = incoming.noteAfter(result);
  if (note !== null) await writeNote(directory, note);
}

/** The paths of these steps. A path that is also renamed counts with both names. */
export function pathsOf(steps: readonly { path: string }[], changes: readonly Change[]): string[] {
  const names = new Map(changes.map(({ path, was }) => [path, was]));
  return steps.flatMap(({ path }) => [path, names.get(path) ?? []].flat());
}
