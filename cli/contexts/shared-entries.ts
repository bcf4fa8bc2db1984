import type { IncludedTurn } from "../../src/protocol/api/contexts";
import { containsTurn } from "./common-base";
import type { Note, NotedTurn } from "./note";

/** An entry with further bases, which replace its own. */
const withBases = (entry: IncludedTurn, bases: NotedTurn["bases"] = []): IncludedTurn => ({
  ...entry,
  bases: [...new Map([...(entry.bases ?? []), ...bases].map((one) => [one.path, one])).values()],
});

/** The record of a version, if it has one. */
type RecordHolder = { includes?: readonly IncludedTurn[] | undefined };

/**
 * The turns whose states both the folder and a newer version contain, while a version of the folder
 * does not. Of two turns of a session, the later one contains the state of the earlier one. A path
 * with an older base in the folder has this base, whichever turn is shared. So has a path with an
 * older base in the newer version, because its folder skipped the file of the turn.
 */
export function sharedEntries(
  note: Note,
  { version, includes: ofVersion = [] }: RecordHolder & { version: string },
  { includes: ofNewest = [] }: RecordHolder,
): IncludedTurn[] {
  return (note.includes ?? []).flatMap((own) => {
    const theirs = ofNewest.find(({ session }) => session === own.session);
    if (!theirs) return [];
    const isOwn = theirs.turn >= own.turn;
    const shared = withBases(withBases(isOwn ? own : theirs, theirs.bases), own.bases);
    const contained = ofVersion.find(({ session }) => session === own.session)?.turn ?? 0;
    const isContained = contained >= shared.turn || (isOwn && containsTurn(version, own));
    return isContained ? [] : [shared];
  });
}
