import { Cron } from "croner";

/**
 * The schedule of a suite: five cron fields in UTC. The platform triggers the check, and the
 * library croner computes which suites are due. The pattern accepts only texts that both read in
 * the same way. So weekdays are written as names, because the platform counts them from 1 and
 * croner from 0. For the same reason, days are selected either by date or by weekday.
 */
const FIELDS =
  /^(?<minute>\d{1,2}) [\d*,/-]+ (?<day>[\d*,/-]+) [\d*,/A-Z-]+ (?<weekday>\*|[A-Z]{3}([,-][A-Z]{3})*)$/;

const MINUTE_MS = 60_000;

/**
 * The problem of a cron text, as the rest of a sentence that begins with "`cron`"; `null` if valid.
 */
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

/** Whether a suite with this cron is due in the minute of `at` (unix ms). False without a cron. */
export const isDue = (cron: string | undefined, at: number): boolean =>
  cron !== undefined && parse(cron).match(new Date(minuteOf(at)));

/** The next scheduled time after `at`, both in unix ms; `null` without a cron. */
export const nextDue = (cron: string | undefined, at: number): number | null =>
  (cron === undefined ? null : parse(cron).nextRun(new Date(at))?.getTime()) ?? null;

/** The start of a minute, unix ms. Two triggers in one minute mean the same run. */
export const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS) * MINUTE_MS;

const parse = (text: string): Cron => new Cron(text, { mode: "5-part", timezone: "UTC" });

/**
 * The id of a scheduled run. Run ids sort by time. This id contains only the minute, so two
 * triggers in one minute name the same run.
 */
export const scheduledRunId = (at: number): string => `run_${stamp(minuteOf(at))}`;

/** The id of a manual run. `suffix` distinguishes runs that are started in the same second. */
export const manualRunId = (at: number, suffix: string): string =>
  `run_${stamp(at)}_${suffix.toLowerCase()}`;

/** A time as part of a run id: `20261104t060000z`. */
const stamp = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").toLowerCase()}z`;
