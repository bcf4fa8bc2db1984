import { Cron } from "croner";

/**
 * When a suite runs by itself: five fields, UTC. A part of what crons can say, namely that on which the platform, which rings,
 * and croner, which tells what is due, agree: weekdays only by name, because the platform counts them from 1 and others from 0,
 * and days either by date or by weekday.
 */
const FIELDS =
  /^(?<minute>\d{1,2}) [\d*,/-]+ (?<day>[\d*,/-]+) [\d*,/A-Z-]+ (?<weekday>\*|[A-Z]{3}([,-][A-Z]{3})*)$/;

const MINUTE_MS = 60_000;

/** What is wrong with a cron text, in words that complete "`cron` …"; null: nothing. */
export function cronProblem(text: string): string | null {
  const fields = FIELDS.exec(text)?.groups;
  if (!fields) {
    return "must be five fields (minute, hour, day, month, weekday) with one number as the minute, so that a suite runs at most once an hour, and weekdays by name: `30 6 * * MON-FRI`";
  }
  if (fields["day"] !== "*" && fields["weekday"] !== "*")
    return "must name days either by date or by weekday, not by both";
  try {
    return parse(text).nextRun() ? null : "names a time that never comes";
  } catch (error) {
    return `is no cron: ${error instanceof Error ? error.message.replace(/^CronPattern: /, "") : error}`;
  }
}

/** Whether a suite with this cron runs in the minute of `at`, unix ms; one without cron never does. */
export const isDue = (cron: string | undefined, at: number): boolean =>
  cron !== undefined && parse(cron).match(new Date(minuteOf(at)));

/** The next time after `at` that this cron names, unix ms; null without one. */
export const nextDue = (cron: string | undefined, at: number): number | null =>
  (cron === undefined ? null : parse(cron).nextRun(new Date(at))?.getTime()) ?? null;

/** The beginning of a minute: crons know nothing finer, and both rings of one minute mean the same run. */
export const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS) * MINUTE_MS;

const parse = (text: string): Cron => new Cron(text, { mode: "5-part", timezone: "UTC" });

/** Ids of runs sort by time. Those that a cron starts are made of the time alone, so that two rings of a minute name one run. */
export const scheduledRunId = (at: number): string => `run_${stamp(minuteOf(at))}`;

/** `suffix` keeps apart what is started by hand within one second. */
export const manualRunId = (at: number, suffix: string): string =>
  `run_${stamp(at)}_${suffix.toLowerCase()}`;

export const RUN_ID = /^run_\d{8}t\d{6}z(_[a-z0-9]{1,32})?$/;

/** `20261104t060000z` */
const stamp = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").toLowerCase()}z`;
