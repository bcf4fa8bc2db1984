import { toEvent } from "../../../tests/e2e/support/verdict";
import type { KillRecord } from "./case";
import type { Run } from "../runs/run";

type InterruptedRun = { watchers: readonly Pick<Run["watchers"][number], "frames" | "cameAt">[] };
type KillTimes = Pick<KillRecord, "killedAt" | "goneAt"> & {
  activeRuns: readonly InterruptedRun[];
};

/**
 * For each interrupted run, the time in ms from the signal until the run's watcher received the
 * next useful event. Two kinds of events do not count: events that the process logged before its
 * exit, and the report of an interrupted call. If a second kill comes before that event, the run
 * has no figure for the first kill.
 */
export function recoveryTimes(kills: readonly KillTimes[]): number[] {
  return kills.flatMap(({ activeRuns, ...times }, nth) => {
    const until = kills[nth + 1]?.killedAt ?? Number.POSITIVE_INFINITY;
    return activeRuns.flatMap((run) => firstEventAfter(run, times, until));
  });
}

function firstEventAfter(
  { watchers }: InterruptedRun,
  { killedAt, goneAt }: Omit<KillTimes, "activeRuns">,
  until: number,
): number[] {
  const [watcher] = watchers;
  if (!watcher) return [];
  const goneUnix = performance.timeOrigin + goneAt;
  // Events logged before the exit may arrive a little later.
  const position = watcher.cameAt.findIndex((cameAt, nth) => {
    const frame = watcher.frames[nth];
    if (cameAt <= goneAt || !frame) return false;
    const event = toEvent(frame);
    return event.at >= goneUnix && event.type !== "call.failed";
  });
  const cameAt = watcher.cameAt[position];
  return cameAt === undefined || cameAt > until ? [] : [cameAt - killedAt];
}
