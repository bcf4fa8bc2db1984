import { toEvent } from "../../../tests/e2e/support/verdict";
import type { KillRecord } from "./case";
import type { Run } from "../runs/run";

type InterruptedRun = { watchers: readonly Pick<Run["watchers"][number], "frames" | "cameAt">[] };
type KillTimes = Pick<KillRecord, "killedAt" | "goneAt"> & { hit: readonly InterruptedRun[] };

/**
 * For each interrupted run, the time from the signal to its next useful event, as its watcher saw
 * it, in ms. Events that the process logged before it died do not count, nor does the report of an
 * interrupted call. A run that was interrupted again before that gives no figure for the first
 * kill.
 */
export function recoveryTimes(killed: readonly KillTimes[]): number[] {
  return killed.flatMap(({ hit, ...times }, nth) => {
    const until = killed[nth + 1]?.killedAt ?? Number.POSITIVE_INFINITY;
    return hit.flatMap((run) => firstEventAfter(run, times, until));
  });
}

function firstEventAfter(
  { watchers }: InterruptedRun,
  { killedAt, goneAt }: Omit<KillTimes, "hit">,
  until: number,
): number[] {
  const [full] = watchers;
  if (!full) return [];
  const goneUnix = performance.timeOrigin + goneAt;
  // Events logged before the exit may arrive a little later.
  const at = full.cameAt.findIndex((cameAt, nth) => {
    const frame = full.frames[nth];
    if (cameAt <= goneAt || !frame) return false;
    const event = toEvent(frame);
    return event.at >= goneUnix && event.type !== "call.failed";
  });
  const cameAt = full.cameAt[at];
  return cameAt === undefined || cameAt > until ? [] : [cameAt - killedAt];
}
