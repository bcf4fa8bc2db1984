import { toEvent } from "../../../tests/process/support/verdict";
import type { Killed } from "./case";
import type { Run } from "../runs/run";

/**
 * How long each run that was hit took from the kill to its next useful event, as its watcher saw it, in ms. Word that a call was
 * interrupted is of no use to anybody. A run that was hit again before it said anything gives no figure for the first kill.
 */
export function recoveryTimes(killed: readonly Killed[]): number[] {
  return killed.flatMap(({ killedAt, hit }, nth) => {
    const until = killed[nth + 1]?.killedAt ?? Number.POSITIVE_INFINITY;
    return hit.flatMap((run) => firstEventAfter(run, killedAt, until));
  });
}

function firstEventAfter({ watchers }: Run, killedAt: number, until: number): number[] {
  const [full] = watchers;
  if (!full) return [];
  const killedUnix = performance.timeOrigin + killedAt;
  // What was logged before may arrive a little after.
  const at = full.cameAt.findIndex((cameAt, nth) => {
    const frame = full.frames[nth];
    if (cameAt <= killedAt || !frame) return false;
    const event = toEvent(frame);
    return event.at >= killedUnix && event.type !== "call.failed";
  });
  const cameAt = full.cameAt[at];
  return cameAt === undefined || cameAt > until ? [] : [cameAt - killedAt];
}
