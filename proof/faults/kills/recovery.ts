import { toEvent } from "../../../tests/e2e/support/verdict";
import type { Killed } from "./case";
import type { Run } from "../runs/run";

type Hit = { watchers: readonly Pick<Run["watchers"][number], "frames" | "cameAt">[] };
type Blow = Pick<Killed, "killedAt" | "goneAt"> & { hit: readonly Hit[] };

/**
 * How long each run that was hit took from the signal to its next useful event, as its watcher saw it, in ms. What the process still
 * logged before it was dead is none, and word that a call was interrupted is of no use to anybody. A run that was hit again before
 * it said anything gives no figure for the first kill.
 */
export function recoveryTimes(killed: readonly Blow[]): number[] {
  return killed.flatMap(({ hit, ...blow }, nth) => {
    const until = killed[nth + 1]?.killedAt ?? Number.POSITIVE_INFINITY;
    return hit.flatMap((run) => firstEventAfter(run, blow, until));
  });
}

function firstEventAfter(
  { watchers }: Hit,
  { killedAt, goneAt }: Omit<Blow, "hit">,
  until: number,
): number[] {
  const [full] = watchers;
  if (!full) return [];
  const goneUnix = performance.timeOrigin + goneAt;
  // What was logged before may arrive a little after.
  const at = full.cameAt.findIndex((cameAt, nth) => {
    const frame = full.frames[nth];
    if (cameAt <= goneAt || !frame) return false;
    const event = toEvent(frame);
    return event.at >= goneUnix && event.type !== "call.failed";
  });
  const cameAt = full.cameAt[at];
  return cameAt === undefined || cameAt > until ? [] : [cameAt - killedAt];
}
