import { minuteOf } from "./cron";

/** Ids of runs sort by time. Those that a cron starts are made of the time alone, so that two rings of a minute name one run. */
export const scheduledRunId = (at: number): string => `run_${stamp(minuteOf(at))}`;

/** `suffix` keeps apart what is started by hand within one second. */
export const manualRunId = (at: number, suffix: string): string =>
  `run_${stamp(at)}_${suffix.toLowerCase()}`;

export const RUN_ID = /^run_\d{8}t\d{6}z(_[a-z0-9]{1,32})?$/;

/** `20261104t060000z` */
const stamp = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").toLowerCase()}z`;
