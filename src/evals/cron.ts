import { Cron } from "croner";

/**
 * Schedule of a suite: five fields, UTC. The subset of cron on which the platform, which fires, and
 * croner, which computes what is due, agree: weekdays by name only, because the platform counts
 * them from 1 and others from 0, and days either by date or by weekday.
 */
const FIELDS =
  /^(?<minute>\d{1,2}) [\d*,/-]+ (?<day>[\d*,/-]+) [\d*,/A-Z-]+ (?<weekday>\*|[A-Z]{3}([,-][A-Z]{3})*)$/;

const MINUTE_MS = 60_000;

/** The problem of a cron text, completing "`cron` …"; `null` if it is valid. */
export function cronProblem(text: string): string | null {
  const fields = FIELDS.exec(text)?.groups;
  if (!fields) {
    return "must be five fields (minute, hour, day, month, weekday) with one number as the minute, so that a suite runs at most once an hour, and weekdays by name: `30 6 * * MON-FRI`";
  }
  if (fields["day"] !== "*" && fields["weekday"] !== "*")
    return "must select days either by date or by weekday, not by both";
  try {
    return parse(text).nextRun() ? null : "never matches a time";
  } catch (error) {
    return `is not a valid cron expression: ${error instanceof Error ? error.message.replace(/^CronPattern: /, "") : error}`;
  }
}

/** Whether a suite with this cron runs in the minute of `at`, Unix ms. False without a cron. */
export const isDue = (cron: string | undefined, at: number): boolean =>
  cron !== undefined && parse(cron).match(new Date(minuteOf(at)));

/** The next scheduled time after `at`, Unix ms; `null` without a cron. */
export const nextDue = (cron: string | undefined, at: number): number | null =>
  (cron === undefined ? null : parse(cron).nextRun(new Date(at))?.getTime()) ?? null;

/** Start of a minute: crons are not finer, and two triggers in one minute mean the same run. */
export const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS) * MINUTE_MS;

const parse = (text: string): Cron => new Cron(text, { mode: "5-part", timezone: "UTC" });

/**
 * Run ids sort by time. A scheduled run's id is its time alone, so that two triggers in a minute
 * name one run.
 */
export const scheduledRunId = (at: number): string => `run_${stamp(minuteOf(at))}`;

/** `suffix` distinguishes manual runs started in the same second. */
export const manualRunId = (at: number, suffix: string): string =>
  `run_${stamp(at)}_${suffix.toLowerCase()}`;

export const RUN_ID = /^run_\d{8}t\d{6}z(_[a-z0-9]{1,32})?$/;

/** `20261104t060000z` */
const stamp = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").toLowerCase()}z`;
